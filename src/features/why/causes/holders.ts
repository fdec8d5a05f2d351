import type {Holder, HolderProcess, PodSnapshot} from '../snapshot/pod-snapshot.js';

/** Returns who uses a port or a path, as the end of a sentence such as ` by nginx (PID 7)`; empty if that was not looked for. */
export function holderText(
  {node: {holders = []}}: PodSnapshot,
  wanted: (holder: Holder['of']) => boolean,
): string {
  const found = holders.filter((holder) => wanted(holder.of));
  if (found.length === 0) return '';
  const users = [
    ...found.flatMap(({processes}) => processes).map(processText),
    ...found.flatMap(({pods}) => pods).map((pod) => `pod ${pod}`),
  ];
  return users.length === 0 ? ' by no process that kcri can see' : ` by ${[...new Set(users)].join(', ')}`;
}

function processText({pid, name, containerId}: HolderProcess): string {
  const where = containerId === undefined ? '' : ` in container ${containerId.slice(0, 13)}`;
  return `${name} (PID ${pid}${where})`;
}

/** Selects a port. */
export const isPort =
  (port: number) =>
  (of: Holder['of']): boolean =>
    'port' in of && of.port === port;

/** Selects all paths. */
export const isPath = (of: Holder['of']): boolean => 'path' in of;
