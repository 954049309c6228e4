import { describe, expect, it } from 'vitest';
import { digestText } from '../../../receipts/digest.ts';
import { secretRule } from '../../../receipts/secrets.ts';

/** Written in pieces, so that no scanner takes this file for a leak. */
const of = (...pieces: string[]): string => pieces.join('');
const base62 = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA2cD4eF6gH8';
const hex32 = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

const CANARIES: readonly (readonly [rule: string, text: string])[] = [
  ['github-token', of('gh', 'p_', base62.slice(0, 36))],
  ['github-token', of('github', '_pat_', base62.slice(0, 22), '_', base62)],
  ['gitlab-token', of('gl', 'pat-', base62.slice(0, 20))],
  ['slack-token', of('xo', 'xb-', '123456789012-', base62.slice(0, 24))],
  ['slack-token', of('https://hooks.slack', '.com/services/T0001/B0001/', base62.slice(0, 24))],
  ['aws-access-key', of('AK', 'IA', 'IOSFODNN7EXAMPLE')],
  ['google-key', of('AI', 'za', base62.slice(0, 35))],
  ['google-key', of('ya', '29.', base62)],
  ['stripe-key', of('sk_', 'live_', base62.slice(0, 24))],
  ['stripe-key', of('wh', 'sec_', base62.slice(0, 32))],
  ['api-key', of('sk', '-CANARY-7f3a')],
  ['api-key', of('sk', '-proj-', base62)],
  ['api-key', of('sk', '-ant-api03-', base62)],
  ['package-token', of('np', 'm_', base62.slice(0, 36))],
  ['package-token', of('py', 'pi-AgE', base62)],
  ['model-hub-token', of('h', 'f_', base62.slice(0, 34))],
  ['mail-token', of('S', 'G.', base62.slice(0, 22), '.', base62)],
  ['telephony-key', of('S', 'K', hex32)],
  ['hosting-token', of('do', 'p_v1_', hex32, hex32)],
  ['shop-token', of('sh', 'pat_', hex32)],
  ['vault-token', of('hv', 's.', base62.slice(0, 24))],
  ['bot-token', of('123456789', ':AA', base62.slice(0, 33))],
  ['private-key', of('-----BEGIN RSA ', 'PRIVATE KEY-----')],
  ['private-key', of('-----BEGIN ', 'PRIVATE KEY-----\nMIIE')],
  ['jwt', of('ey', 'JhbGciOiJIUzI1NiJ9.ey', 'JzdWIiOiIxMjM0In0.', base62)],
  ['bearer', of('Bear', 'er ', '7f3a91cc20b4')],
  ['authorization', of('Authori', 'zation: Basic ', 'dXNlcjpwYXNz')],
  ['postgres-url', of('postgresql://app', ':hunter2', '@db.internal:5432/orders')],
  ['url-credentials', of('https://user', ':hunter2', '@example.org/x')],
  ['url-credentials', of('redis://', ':hunter2', '@cache:6379/0')],
  ['key-value', of('pass', 'word=hunter2')],
  ['key-value', of('DB_PASS', 'WORD=hunter2')],
  ['key-value', of('client_sec', 'ret: 7f3a91cc')],
  ['key-value', of('{"api', 'Key": "7f3a91cc"}')],
  ['key-value', of('host=db user=app pass', 'word=hunter2 dbname=x')],
];

/** Seen in labels only: in an identity the same words can be a name. */
const LABEL_CANARIES: readonly (readonly [rule: string, text: string])[] = [
  ['key-value', of('tok', 'en:7f3a91cc')],
  ['random-token', base62],
  ['random-token', of('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY9a')],
];

const HARMLESS: readonly string[] = [
  digestText('anything'),
  `etag ${digestText('anything')}`,
  `digests: ${digestText('a')}, ${digestText('b')}`,
  'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  '9f86d081884c7d659a2feaa0c55ad015',
  'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'commit da39a3ee5e6b4b0d3255bfef95601890afd80709 on main',
  '550e8400-e29b-41d4-a716-446655440000',
  '550E8400-E29B-41D4-A716-446655440000',
  '019505a0-7c00-7000-8000-000000000001',
  'Order-550e8400-e29b-41d4-a716-446655440000/attempt-2',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'V1StGXR8_Z5jdHi6B-myT',
  'wait-550e8400-e29b-41d4-a716-446655440000',
  'default/order-1182/charge/invoice-2024-000371',
  'default/user-7/reset-password/2026-03',
  'workload/nightly-report-2026-03-01T00:00:00Z-1',
  'sources-checked',
  'sk-invoices-2024',
  'task-list-2026-03-01',
  'mask-sk-learn-1.2',
  '2026-03-01T12:00:00.000Z',
  '2026-03-01T12:00:00+01:00',
  'https://example.org/a/b?page=2&sort=name#part',
  'https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit',
  'https://example.org:8443/users/@me',
  'postgres://db.internal:5432/orders',
  'postgres://app@db.internal/orders',
  'git@github.com:temporalio/temporal.git',
  '/var/lib/reports/2026/03/01/QuarterlySummaryForTheBoard.pdf',
  'QuarterlySummaryForTheBoardAndTheAuditorsV2',
  'com.example.billing.InvoiceSettlementWorkflowImplementationV2',
  'token budget exhausted after 4 of 12 sources',
  'tokens: 48000 of 100000',
  'token: expired',
  'password: required',
  'secret: [redacted]',
  'password=***',
  'the bearer of the invitation',
  'Bearer required',
  'basic configuration checked',
  'authorization: denied',
  'authorization: required by ops, pending-approval',
  'waiting for authorization from ops',
  'secretary: Smith',
  'first half, second half',
  '12 of 40 links checked; 3 redirects, 1 gone (404)',
  'claude-sonnet-4-5-20250929',
  'gpt-4o-mini-2024-07-18',
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '日本語のメモ、問題なし',
];

describe('secretRule', () => {
  it.each(CANARIES)('knows a %s wherever it stands', (rule, canary) => {
    for (const text of [canary, `sent with ${canary} in the header`, `(${canary})`]) {
      expect(secretRule(text, 'label')).toBe(rule);
      expect(secretRule(text, 'identity')).toBe(rule);
    }
  });

  it('knows at least twenty kinds', () => {
    expect(new Set(CANARIES.map(([rule]) => rule)).size).toBeGreaterThanOrEqual(20);
  });

  it.each(LABEL_CANARIES)('knows a %s in text for people, and leaves identities that look so alone', (rule, canary) => {
    expect(secretRule(canary, 'label')).toBe(rule);
    expect(secretRule(`see ${canary}`, 'label')).toBe(rule);
    expect(secretRule(canary, 'identity')).toBeNull();
  });

  it.each(HARMLESS)('lets %s pass', (text) => {
    expect(secretRule(text, 'label')).toBeNull();
    expect(secretRule(text, 'identity')).toBeNull();
  });

  it('answers a name that holds nothing of the text', () => {
    for (const [, canary] of [...CANARIES, ...LABEL_CANARIES]) {
      expect(secretRule(canary, 'label')).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    }
  });

  it('grows no faster than the square of a text made to keep it busy', () => {
    const texts = [
      'sk-'.repeat(2700),
      'a_'.repeat(4000),
      'password'.repeat(1000),
      '://'.repeat(2700),
      'eyJ'.repeat(2700),
    ];
    const busiest = texts.flatMap((text) => [text, `${text}=`, `${text} :`]);
    const measure = (repeat: number): number => {
      const started = process.cpuUsage().user;
      for (const text of busiest) secretRule(text.repeat(repeat), 'label');
      return process.cpuUsage().user - started;
    };
    measure(1);
    // Four times the text: 16 times the work is the square, and the rest is room for a busy machine.
    expect(measure(4)).toBeLessThan(40 * Math.max(measure(1), 2000));
  });
});
