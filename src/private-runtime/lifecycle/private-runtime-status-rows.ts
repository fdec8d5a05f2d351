import type {RuntimePresent, RuntimeStatus} from './private-runtime-status.js';

/** Returns the status as labels and values, for people. */
export function runtimeStatusRows(status: RuntimeStatus): [string, string][] {
  if (status.state === 'down') {
    const {left, root} = status;
    const rest = left.length === 0 ? 'no files remain' : `but files remain in ${left.join(', ')}`;
    return [
      ['state', `down: not running, ${rest}; start it with "kcri runtime up"`],
      ['root', root],
    ];
  }
  const {network, iptables, snapshotter, restrictOomScoreAdj} = status;
  return [
    ['state', stateText(status)],
    ['endpoint', status.endpoint],
    ...countRows(status),
    ['containerd', `${status.version} (${status.containerd})`],
    ['configuration', `version ${status.configVersion}`],
    ['OCI runtime', status.runc],
    ['pod network', `${network.subnet} on bridge ${network.bridge}`],
    ['iptables', iptables.reason],
    ['snapshotter', `${snapshotter.value}: ${snapshotter.reason}`],
    ['restrict_oom_score_adj', `${restrictOomScoreAdj.value}: ${restrictOomScoreAdj.reason}`],
    ['root', status.root],
    ['log', status.log],
  ];
}

function stateText({state, pid}: RuntimePresent): string {
  return state === 'up'
    ? `up: containerd is process ${pid ?? '?'}`
    : 'dead: containerd was killed; repair it with "kcri runtime up"';
}

function countRows({pods, containers}: RuntimePresent): [string, string][] {
  return pods === undefined ? [] : [['pods', `${pods} with ${containers ?? 0} containers`]];
}
