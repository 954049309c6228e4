declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it';

  /** Footnotes as `[^label]`: references become `footnote_ref` tokens, definitions are kept under `env.footnotes`. */
  export default function footnote(parser: MarkdownIt): void;
}
