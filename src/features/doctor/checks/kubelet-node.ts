import {counted} from '../../../base/counted.js';
import {failure, judge, ok, skipped, warning, type Check} from '../check.js';
import {isMissing, valueOf} from '../fact.js';

/** Time in which a sync loop is active again, and in which the PLEG lists the runtime again, in ms. */
const ACTIVE_MS = 60_000;
const RELIST_MS = 180_000;
const SECOND_MS = 1000;
/** Programs that a kubelet does not mount volumes without. */
const REQUIRED_PROGRAMS = ['mount', 'umount', 'losetup'];

const age = (takenAt: string, time: string): number => Date.parse(takenAt) - Date.parse(time);
const seconds = (ms: number): string => `${Math.round(ms / SECOND_MS)}s`;

/** Checks of what a kubelet does and needs on the node. */
export const KUBELET_NODE_CHECKS: readonly Check[] = [
  {
    id: 'kubelet/activity',
    title: 'sync loop and PLEG of the kubelet of kcri',
    examine: ({kubelet: {own}, takenAt}) =>
      judge([own], (ofKcri) => {
        if (ofKcri === null) return skipped('no kubelet of kcri runs with this root directory');
        const {lastActiveAt, pleg} = ofKcri;
        const idle = age(takenAt, lastActiveAt);
        const {mode, relistedAt} = pleg;
        const sinceRelist = relistedAt === undefined ? 0 : age(takenAt, relistedAt);
        const details = [
          `the sync loop was active ${seconds(idle)} ago`,
          `changes come from ${mode === 'events' ? 'events of the runtime' : 'lists of the runtime'}`,
          ...(relistedAt === undefined ? [] : [`the last list was ${seconds(sinceRelist)} ago`]),
        ];
        if (idle < ACTIVE_MS && sinceRelist < RELIST_MS) return ok(details.join('; '));
        return failure('the kubelet hangs: it does not see changes of pods', {
          details,
          remedy: [{kcri: ['get', 'kubelet']}, 'see runtime/latency: the kubelet waits for the runtime'],
        });
      }),
  },
  {
    id: 'kubelet/lease',
    title: 'age of the lease of the node',
    examine: ({kubelet: {apiServer, processes}}) => {
      if (valueOf(processes)?.length === 0) return skipped('no process named kubelet runs');
      if (isMissing(apiServer)) return skipped('the kubelet has no kubeconfig: it runs without a cluster');
      return judge([apiServer], ({url, status, node, lease, date}) => {
        if (lease === undefined)
          return status === 404
            ? failure(`${url} has no lease of node ${node}`, {
                details: ['the node is not registered, or its kubelet has never renewed the lease'],
                remedy: ['journalctl -u kubelet -n 50'],
              })
            : failure(`${url} answers ${status} about the lease of node ${node}`, {
                remedy: ['check the client certificate of the kubelet (see kubelet/certificates)'],
              });
        // By the clock of the API server, which marks the node as not ready.
        const old = age(date, lease.renewedAt);
        const text = `the lease of node ${node} was renewed ${seconds(old)} ago, and lasts ${lease.durationSeconds}s`;
        if (old < lease.durationSeconds * SECOND_MS) return ok(text);
        return failure(text, {
          details: ['the node becomes NotReady, and its pods are evicted'],
          remedy: ['journalctl -u kubelet -n 50'],
        });
      });
    },
  },
  {
    id: 'kubelet/ports',
    title: 'ports of the kubelet',
    examine: ({kubelet: {listeners, processes, own}}) =>
      judge([listeners, processes, own], (all, kubelets, ofKcri) => {
        const pids = new Set([...kubelets.map(({pid}) => pid), ...(ofKcri === null ? [] : [ofKcri.pid])]);
        const others = all.filter(({process}) => process !== undefined && !pids.has(process.pid));
        if (others.length === 0) return ok(all.length === 0 ? 'free' : all.map(({port}) => port).join(', '));
        return failure(
          `${counted(others.length, 'port')} of a kubelet ${others.length === 1 ? 'is' : 'are'} taken by another program`,
          {
            details: others.map(
              ({port, process}) => `${port}: ${process?.name ?? ''} (PID ${process?.pid ?? 0})`,
            ),
            remedy: others.map(({port}) => `ss -lntp 'sport = :${port}'`),
          },
        );
      }),
  },
  {
    id: 'kubelet/programs',
    title: 'programs that kubelets and network plugins run',
    examine: ({programs}) => {
      const missing = (names: readonly string[]): readonly string[] =>
        names.filter((name) => isMissing(programs[name] ?? {error: '', isMissing: true}));
      const required = missing(REQUIRED_PROGRAMS);
      if (required.length > 0)
        return failure(`${required.join(', ')} not found: volumes cannot be mounted`, {
          remedy: ['apt-get install mount util-linux'],
        });
      if (missing(['iptables', 'nft']).length === 2)
        return warning('neither iptables nor nft was found: host ports and Services do not work', {
          remedy: ['apt-get install iptables'],
        });
      return ok(
        Object.keys(programs)
          .filter((name) => missing([name]).length === 0)
          .join(', '),
      );
    },
  },
];
