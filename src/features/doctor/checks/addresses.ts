import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {failure, judge, ok, shownFirst, skipped, textIn, warning, type Check} from '../check.js';
import {valueOf} from '../fact.js';
import type {AddressUse} from '../node-snapshot.js';

/** Share of the addresses in use from which on it is a warning. */
const SHARE = 0.9;

/** Checks of interfaces, addresses and names. */
export const ADDRESS_CHECKS: readonly Check[] = [
  {
    id: 'network/addresses',
    title: 'addresses of pods',
    examine: ({network: {addresses}, runtime: {sandboxes}}) => {
      if (addresses.length === 0) return skipped('no network uses host-local, whose addresses kcri can read');
      const unread = addresses.find(({taken}) => 'error' in taken)?.taken;
      if (unread !== undefined && 'error' in unread) return skipped(unread.error);
      return judge([sandboxes], (pods) => {
        const ids = new Set(pods.map(({id}) => id));
        const found = addresses.map((use) => ({use, ...judgeRange(use, ids)}));
        const full = found.filter(({share}) => share >= 1);
        const bad = found.filter(({share, left}) => share >= SHARE || left > 0);
        if (bad.length === 0) return ok(found.map(({text}) => text).join('; '));
        return (full.length > 0 ? failure : warning)(found.map(({text}) => text).join('; '), {
          details: bad.flatMap(({use: {directory}, left}) =>
            left > 0 ? [`${counted(left, 'address')} in ${directory} of sandboxes that do not exist`] : [],
          ),
          remedy: bad.map(({use: {directory}}) => `grep -r . ${shellQuote(directory)}`),
        });
      });
    },
  },
  {
    id: 'network/interfaces',
    title: 'interfaces of pods on the node',
    examine: ({network: {interfaces}, runtime: {sandboxes}}) =>
      judge([interfaces, sandboxes], (all, pods) => {
        const down = all.filter(({state}) => state !== 'up' && state !== 'unknown');
        const extra = all.length - pods.length;
        const text = `${counted(all.length, 'interface')} of pods, ${counted(pods.length, 'pod sandbox')}`;
        if (down.length === 0 && extra <= 0) return ok(text);
        return warning(
          extra > 0
            ? `${text}: some belong to no pod`
            : `${counted(down.length, 'interface')} of ${all.length} without a peer that is up`,
          {
            details: shownFirst(down.map(({name, state}) => `${name} is ${state}`)),
            remedy: [
              'ip -d link show type veth',
              ...down.slice(0, 3).map(({name}) => `ip link delete ${shellQuote(name)}`),
            ],
          },
        );
      }),
  },
  {
    id: 'network/name-servers',
    title: 'answers of the name servers',
    examine: ({network: {nameServers}}) => {
      if (nameServers.length === 0)
        return skipped('/etc/resolv.conf names no server (see network/resolv-conf)');
      const silent = nameServers.filter(({ms}) => 'error' in ms);
      const details = nameServers.map(({server, ms}) =>
        'error' in ms
          ? `${server}: no answer (${ms.error.replace(`${server}: `, '')})`
          : `${server}: ${ms.value} ms`,
      );
      if (silent.length === 0) return ok(details.join(', '));
      if (silent.every(({overTcp}) => overTcp === true)) {
        const text = details.join(', ');
        return silent.length === nameServers.length ? skipped(text) : ok(text);
      }
      const remedy = silent.map(({server}) => `dig @${shellQuote(server)} . NS`);
      return silent.length === nameServers.length
        ? failure('no name server of the node answers', {details, remedy})
        : warning(`${counted(silent.length, 'name server')} of ${nameServers.length} do not answer`, {
            details,
            remedy,
          });
    },
  },
  {
    id: 'network/hostname',
    title: 'name of the host',
    examine: (snapshot) =>
      judge([textIn(snapshot, '/proc/sys/kernel/hostname')], (name) => {
        const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
        if (
          name.length <= 253 &&
          name
            .toLowerCase()
            .split('.')
            .every((part) => label.test(part))
        )
          return ok(name);
        return failure(`${name} is not a DNS name, and so not a valid name of a node`, {
          remedy: ['hostnamectl set-hostname NAME', 'or set --hostname-override of the kubelet'],
        });
      }),
  },
  {
    id: 'network/firewall',
    title: 'programs that manage the firewall',
    examine: ({processes}) =>
      judge([processes], ({firewalls}) =>
        firewalls.length === 0
          ? ok('none runs')
          : warning(
              `${firewalls.join(', ')} runs, and drops packets of pods and to the kubelet that its zones do not allow`,
              {
                remedy: ['firewall-cmd --list-all-zones'],
              },
            ),
      ),
  },
];

function judgeRange({network, size, taken}: AddressUse, sandboxes: ReadonlySet<string>) {
  const {count, owners} = valueOf(taken) ?? {count: 0, owners: []};
  const left = owners.filter((owner) => !sandboxes.has(owner)).length;
  return {text: `${network}: ${count} of ${size} addresses in use`, share: count / size, left};
}
