/** What a command's help opens with: two lines that run as they stand, given that the run they name exists. */
export function examples(first: string, second: string): string {
  return `Examples:\n  temporal health ${first}\n  temporal health ${second}\n`;
}
