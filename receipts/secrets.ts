/**
 * Values that look like secrets (R15). Two expressions, each tried once per text; the name of the group that matched is the
 * rule, and nothing but the name leaves this file.
 *
 * Identities (`identity`) are compared, handed on and often opaque by nature: only shapes that nothing but a credential has
 * are refused there. Labels, which people write, are also searched for `token: …` and for long random-looking words.
 *
 * The limits: a secret in plain words, or cut in pieces, is not seen. What must never be seen as one (digests, UUIDs,
 * commits, workflow ids, times, addresses without credentials, our resume tokens) is a corpus in the tests: a receipt
 * refused for nothing is evidence lost.
 */
import { isSha256 } from './digest.ts';

export type TextRole = 'identity' | 'label';

/** Beginnings that only a credential has, each at the start of a word: elsewhere none of them is tried. Case matters. */
const SHAPES = [
  String.raw`(?<githubToken>gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,})`,
  String.raw`(?<gitlabToken>gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{16,})`,
  String.raw`(?<slackToken>xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}|hooks\.slack\.com/services/T\w+/B\w+/\w{8,})`,
  String.raw`(?<awsAccessKey>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b)`,
  String.raw`(?<googleKey>AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})`,
  String.raw`(?<stripeKey>[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})`,
  // A digit before a letter, or length, tells a key from a name such as `sk-invoices-2024`.
  String.raw`(?<apiKey>sk-(?=[\w-]*\d[A-Za-z]|[\w-]{32})[\w-]{8,})`,
  String.raw`(?<packageToken>npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{16,})`,
  String.raw`(?<modelHubToken>hf_[A-Za-z0-9]{20,})`,
  String.raw`(?<mailToken>SG\.[\w-]{16,}\.[\w-]{16,})`,
  String.raw`(?<telephonyKey>SK[0-9a-f]{32}\b)`,
  String.raw`(?<hostingToken>do[opr]_v1_[0-9a-f]{32,})`,
  String.raw`(?<shopToken>shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})`,
  String.raw`(?<vaultToken>hv[bs]\.[\w-]{20,})`,
  String.raw`(?<botToken>\d{8,10}:AA[\w-]{33})`,
  String.raw`(?<privateKey>BEGIN [A-Z0-9 ]*PRIVATE KEY|AGE-SECRET-KEY-1[A-Z0-9]{20,})`,
  String.raw`(?<jwt>eyJ[\w-]{8,}\.eyJ[\w-]{8,})`,
];

/** What the value of a key may be without being a secret: words of state, and marks of something left out. */
const HARMLESS = String.raw`(?:none|null|nil|true|false|unset|empty|missing|required|invalid|expired|rotated|changed|revoked|unknown|wrong|redacted|hidden)\b|[*<.\[(…]`;
const SECRET_KEY = String.raw`(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|account[_-]?key|credentials?)["']?\s*`;

/** Frames around a secret, found by what follows the key or the scheme, so that few places are tried. Case does not matter. */
const FRAMES = [
  String.raw`(?<postgresUrl>(?<=postgres(?:ql)?)://[^\s/:@?#]*:[^\s/@]+@)`,
  String.raw`(?<urlCredentials>://[^\s/:@?#]*:[^\s/@]+@)`,
  String.raw`(?<authorization>(?<=\bauthorization["']?\s*)[:=]\s*["']?(?:(?:basic|digest|token|apikey)\s+|(?=\S*\d|\S{24}))[\w.~+/-]{8,})`,
];
const VALUE = String.raw`["']?(?!${HARMLESS})[^\s"',;]{4,}`;
const ASSIGNED = String.raw`(?<keyValue>(?<=${SECRET_KEY})(?:=\s*|:\s+)${VALUE})`;
const ASSIGNED_LOOSELY = String.raw`(?<keyValue>(?<=${SECRET_KEY})[:=]\s*${VALUE})`;

const BEARER = /\b(?<bearer>bearer\s+(?=\S*\d|\S{24})[\w.~+/-]{8,})/i;

const IN_ANY = new RegExp(String.raw`\b(?:${SHAPES.join('|')})`);
const IN_IDENTITY = new RegExp([...FRAMES, ASSIGNED].join('|'), 'i');
const IN_LABEL = new RegExp([...FRAMES, ASSIGNED_LOOSELY].join('|'), 'i');

/** Nothing shorter can match any rule. */
const SHORTEST = 8;
/** Without one of these no frame can match: most fields of a receipt are let go here. */
const FRAME_MARK = /[=:]/;

/** The name of the first rule that the text matches (kebab-case), or null. The text itself is never part of the answer. */
export function secretRule(text: string, role: TextRole): string | null {
  if (text.length < SHORTEST) return null;
  if (isSha256(text)) return null;
  const match =
    IN_ANY.exec(text) ??
    (FRAME_MARK.test(text) ? (role === 'label' ? IN_LABEL : IN_IDENTITY).exec(text) : null) ??
    BEARER.exec(text);
  if (match !== null) return ruleName(match);
  return role === 'label' && hasRandomWord(text) ? 'random-token' : null;
}

function ruleName(match: RegExpExecArray): string {
  const matched = Object.entries(match.groups ?? {}).find(([, found]) => (found as string | undefined) !== undefined);
  return (matched?.[0] ?? 'secret').replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}

/** A long word that is not part of an address, a path, a digest or a dotted name. */
const LONG_WORD = /(?<![\w+/=.:@-])[A-Za-z0-9][\w+/-]{30,}/g;

/** Random words change between capitals, small letters and digits all the time; names do so at the start of a word. */
const LEAST_CHANGES_PER_CHARACTER = 0.4;

function hasRandomWord(text: string): boolean {
  if (text.length < 31) return false;
  for (const [word] of text.matchAll(LONG_WORD)) {
    if (!/^sha\d+[-_]/.test(word) && looksRandom(word)) return true;
  }
  return false;
}

/** Mixed letters and digits all along. 128 bits written in hexadecimal, as a UUID or in 22 characters are never meant. */
function looksRandom(word: string): boolean {
  const counts = [0, 0, 0, 0];
  let changes = 0;
  let before = -1;
  for (let at = 0; at < word.length; at++) {
    const kind = kindOf(word.charCodeAt(at));
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (kind !== before) changes += 1;
    before = kind;
  }
  const [small = 0, capital = 0, digit = 0] = counts;
  const least = word.length / 10;
  return small >= least && capital >= least && digit >= 2 && changes >= word.length * LEAST_CHANGES_PER_CHARACTER;
}

function kindOf(unit: number): 0 | 1 | 2 | 3 {
  if (unit >= 0x61 && unit <= 0x7a) return 0;
  if (unit >= 0x41 && unit <= 0x5a) return 1;
  return unit >= 0x30 && unit <= 0x39 ? 2 : 3;
}
