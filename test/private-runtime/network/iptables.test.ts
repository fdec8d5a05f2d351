import {describe, expect, test} from 'vitest';
import {removalScript, sharedRemovalScript} from '../../../src/private-runtime/network/iptables.js';

const comment = (network: string, what = ''): string =>
  `-m comment --comment "${what}name: \\"${network}\\" id: \\"ab12\\""`;

function savedFor(network: string, key: string): string[] {
  return [
    `-A POSTROUTING -s 10.88.0.2/32 ${comment(network)} -j CNI-${key}`,
    `-A CNI-${key} -d 10.88.0.0/24 ${comment(network)} -j ACCEPT`,
    `-A CNI-${key} ! -d 224.0.0.0/4 ${comment(network)} -j MASQUERADE`,
  ];
}

function hostPortsFor(network: string, key: string): string[] {
  return [
    `-A CNI-HOSTPORT-DNAT -p tcp ${comment(network, 'dnat ')} -m multiport --dports 80 -j CNI-DN-${key}`,
    `-A CNI-DN-${key} -s 10.88.0.0/24 -p tcp -m tcp --dport 80 -j CNI-HOSTPORT-SETMARK`,
    `-A CNI-DN-${key} -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.88.0.2:80`,
  ];
}

const SHARED_CHAINS = [
  ':CNI-HOSTPORT-DNAT - [0:0]',
  ':CNI-HOSTPORT-MASQ - [0:0]',
  ':CNI-HOSTPORT-SETMARK - [0:0]',
];
const SHARED_RULES = [
  '-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
  '-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
  '-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE',
  '-A CNI-HOSTPORT-SETMARK -j MARK --set-xmark 0x2000/0x2000',
];

const saved = (...lines: readonly string[]): string =>
  ['*nat', ':POSTROUTING ACCEPT [0:0]', ...lines, 'COMMIT'].join('\n');
const linesOf = (script: string | undefined): string[] => script?.trim().split('\n') ?? [];

describe('removalScript', () => {
  test("a pod's jump rule is removed before its chain", () => {
    const script = removalScript(saved(':CNI-aa - [0:0]', ...savedFor('kcri0', 'aa')), 'kcri0');
    expect(linesOf(script)).toEqual([
      '*nat',
      `-D POSTROUTING -s 10.88.0.2/32 ${comment('kcri0')} -j CNI-aa`,
      '-F CNI-aa',
      '-X CNI-aa',
      'COMMIT',
    ]);
  });

  test('rules of other networks stay, even if their name has the same prefix', () => {
    expect(removalScript(saved(...savedFor('kcri01', 'bb')), 'kcri0')).toBeUndefined();
    const both = saved(...savedFor('kcri0', 'aa'), ...savedFor('podman', 'bb'));
    expect(removalScript(both, 'kcri0')).not.toContain('CNI-bb');
  });

  test('a host port is removed without the chains that all networks share', () => {
    const rules = [...SHARED_RULES, ...hostPortsFor('kcri0', 'cc'), ...hostPortsFor('podman', 'dd')];
    const script = linesOf(removalScript(saved(...SHARED_CHAINS, ...rules), 'kcri0'));
    expect(script).toContain('-X CNI-DN-cc');
    expect(script.join('\n')).not.toMatch(/-[XF] CNI-HOSTPORT|CNI-DN-dd/);
    expect(script.filter((line) => line.startsWith('-D'))).toHaveLength(1);
  });

  test('a table without CNI rules needs no script', () => {
    expect(removalScript(saved('-A POSTROUTING -j MASQUERADE'), 'kcri0')).toBeUndefined();
    expect(removalScript('', 'kcri0')).toBeUndefined();
  });
});

describe('sharedRemovalScript', () => {
  test('the chains are removed if there is no host port, and a host port added meanwhile keeps them', () => {
    const script = linesOf(sharedRemovalScript(saved(...SHARED_CHAINS, ...SHARED_RULES)));
    expect(script).toEqual([
      '*nat',
      '-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
      '-D POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
      // Not "-F CNI-HOSTPORT-DNAT": a chain that contains a rule by then cannot be deleted, and the restore fails as a
      // whole.
      '-F CNI-HOSTPORT-MASQ',
      '-F CNI-HOSTPORT-SETMARK',
      '-X CNI-HOSTPORT-DNAT',
      '-X CNI-HOSTPORT-MASQ',
      '-X CNI-HOSTPORT-SETMARK',
      'COMMIT',
    ]);
  });

  test('the chains stay if any network has a host port', () => {
    const rules = [...SHARED_RULES, ...hostPortsFor('podman', 'dd')];
    expect(sharedRemovalScript(saved(...SHARED_CHAINS, ...rules))).toBeUndefined();
  });

  test('a table without the chains needs no script', () => {
    expect(sharedRemovalScript(saved('-A POSTROUTING -j MASQUERADE'))).toBeUndefined();
    expect(sharedRemovalScript('')).toBeUndefined();
  });
});
