/** Files of the package beside its code: two levels above `health/cli/` in a checkout, three above `dist/health/cli/`. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function packageFile(path: string): string {
  const inCheckout = new URL(`../../${path}`, import.meta.url);
  return fileURLToPath(existsSync(inCheckout) ? inCheckout : new URL(`../../../${path}`, import.meta.url));
}
