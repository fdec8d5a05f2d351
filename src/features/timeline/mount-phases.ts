import type {Phase} from './phase.js';
import {parseMs, type PodFacts} from './pod-facts.js';

/** Duration from which the mount of one volume is shown, in ms: most volumes are directories, which are made at once. */
const SHOWN_MS = 10;

/** Returns the mounts of volumes that kcri has recorded, and the phase that they are together. Pure. */
export function mountPhases({mounts}: Pick<PodFacts, 'mounts'>): readonly Phase[] {
  const each = mounts.flatMap(({name, mountedAt, mountMs}) => {
    const endMs = parseMs(mountedAt);
    if (endMs === undefined || mountMs === undefined) return [];
    return [
      {...({name: 'mount', source: 'kubelet'} as const), subject: name, startMs: endMs - mountMs, endMs},
    ];
  });
  if (each.length === 0) return [];
  return [
    {
      ...({name: 'volumes', source: 'kubelet'} as const),
      startMs: Math.min(...each.map(({startMs}) => startMs)),
      endMs: Math.max(...each.map(({endMs}) => endMs)),
      inferred: 'from the first mount of a volume to the last',
    },
    ...each.filter(({startMs, endMs}) => endMs - startMs >= SHOWN_MS),
  ];
}
