/** What can be waited for: a verdict, or that every due deliverable is checked and passes. */
import { VERDICTS } from '../verdict.ts';

export const WANTED = [...VERDICTS, 'deliverable'] as const;
export type Wanted = (typeof WANTED)[number];
