import {describe, expect, test} from 'vitest';
import {
  chooseNetwork,
  renderConflist,
  gatewayOf,
  parseRoutedSubnets,
} from '../../../src/private-runtime/network/pod-network.js';

describe('chooseNetwork', () => {
  test('the first subnet is chosen on a machine without conflicts', () => {
    expect(chooseNetwork({interfaces: ['lo', 'eth0'], subnets: []})).toEqual({
      bridge: 'kcri0',
      subnet: '10.88.0.0/24',
    });
  });

  test.each([
    ['the same subnet', '10.88.0.0/24', '10.88.1.0/24'],
    ['an address in the subnet', '10.88.0.7/32', '10.88.1.0/24'],
    ['a wider subnet', '10.88.0.0/15', '10.90.0.0/24'],
    ['half of the subnet', '10.88.0.128/25', '10.88.1.0/24'],
    ['an adjacent subnet', '10.87.255.0/24', '10.88.0.0/24'],
  ])('with %s in use the next free subnet is chosen', (_, taken, subnet) => {
    expect(chooseNetwork({interfaces: ['kcri0'], subnets: [taken]})).toEqual({bridge: 'kcri1', subnet});
  });

  test('the previous network is reused while it is free', () => {
    const kept = {bridge: 'kcri7', subnet: '10.88.9.0/24'};
    expect(chooseNetwork({interfaces: [], subnets: []}, kept)).toBe(kept);
    expect(chooseNetwork({interfaces: [], subnets: ['10.88.9.0/24']}, kept)?.bridge).toBe('kcri0');
  });

  test('there is no network if all subnets are routed elsewhere', () => {
    expect(chooseNetwork({interfaces: [], subnets: ['10.0.0.0/8']})).toBeUndefined();
  });
});

test('the gateway is the first address of the subnet', () => {
  expect(gatewayOf('10.88.3.0/24')).toBe('10.88.3.1/24');
});

test("routes are read from the kernel's table, without the default route", () => {
  const table = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'tun0\t0000580A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
    '',
  ].join('\n');
  expect(parseRoutedSubnets(table)).toEqual(['192.0.2.0/24', '10.88.0.0/16']);
});

describe('conflist', () => {
  const network = {bridge: 'kcri0', subnet: '10.88.0.0/24'};
  interface Conflist {
    readonly name: string;
    readonly plugins: readonly {readonly type: string; readonly ipMasq?: boolean}[];
  }

  test('with iptables the network masquerades and maps host ports', () => {
    const list = JSON.parse(renderConflist(network, {ipamDir: '/x/ipam', iptables: true})) as Conflist;
    expect(list).toMatchObject({
      name: 'kcri0',
      plugins: [
        {type: 'bridge', bridge: 'kcri0', ipMasq: true, ipam: {dataDir: '/x/ipam'}},
        {type: 'portmap'},
      ],
    });
  });

  test('without iptables the network is only a bridge', () => {
    const list = JSON.parse(renderConflist(network, {ipamDir: '/x/ipam', iptables: false})) as Conflist;
    expect(list.plugins.map(({type, ipMasq}) => ({type, ipMasq}))).toEqual([{type: 'bridge', ipMasq: false}]);
  });
});
