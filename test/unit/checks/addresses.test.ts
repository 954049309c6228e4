import { describe, expect, test } from 'vitest';
import { isListedHost, isPublicAddress, vetUrl } from '../../../receipts/checks/addresses.ts';

const NOBODY = { allowedHosts: [] };
const never = (): never => {
  throw new Error('an address in numbers needs no resolver');
};

describe('addresses that only this machine or its network can reach', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://①②⑦.0.0.1/',
    'http://127.0.0.1./',
    'http://0.0.0.0/',
    'http://0/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:53aa:64c::1]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
  ])('%s is refused', async (address) => {
    expect(await vetUrl(new URL(address), NOBODY, never)).toEqual({ allowed: false, cause: 'internal-address' });
  });

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::200e'])(
    '%s is everybody’s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test('a name is judged by what it resolves to', async () => {
    const inside = () => Promise.resolve([{ address: '10.0.0.5', family: 4 }]);
    const outside = () => Promise.resolve([{ address: '8.8.8.8', family: 4 }]);
    expect(await vetUrl(new URL('https://printer.example.org/'), NOBODY, inside)).toEqual({
      allowed: false,
      cause: 'internal-address',
    });
    expect(await vetUrl(new URL('https://example.org/'), NOBODY, outside)).toEqual({
      allowed: true,
      addresses: [{ address: '8.8.8.8', family: 4 }],
    });
  });

  test('a name with one internal address among public ones is refused', async () => {
    const mixed = () =>
      Promise.resolve([
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    expect(await vetUrl(new URL('http://rebind.example.org/'), NOBODY, mixed)).toMatchObject({ allowed: false });
  });

  test('a name that nobody knows says nothing', async () => {
    const lost = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await vetUrl(new URL('http://nowhere.example.org/'), NOBODY, lost)).toEqual({
      allowed: 'unknown',
      cause: 'name-not-found',
    });
  });
});

test.each([
  ['file:///etc/passwd', 'scheme'],
  ['ftp://example.org/', 'scheme'],
  ['gopher://example.org/', 'scheme'],
  ['http://user:secret@example.org/', 'credentials'],
])('%s is refused (%s)', async (address, cause) => {
  expect(await vetUrl(new URL(address), NOBODY, never)).toEqual({ allowed: false, cause });
});

describe('hosts that the operator lists', () => {
  test.each([
    ['127.0.0.1', 'http://127.0.0.1:9999/', true],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/x', true],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/x', false],
    ['wiki.internal:443', 'https://wiki.internal/x', true],
    ['wiki.internal:443', 'http://wiki.internal/x', false],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['wiki.internal', 'http://evil-wiki.internal/', false],
    ['wiki.internal', 'http://wiki.internal.example.org/', false],
    [' ', 'http://localhost/', false],
  ])('%s against %s: %s', (listed, address, allowed) => {
    expect(isListedHost(new URL(address), { allowedHosts: [listed] })).toBe(allowed);
  });
});
