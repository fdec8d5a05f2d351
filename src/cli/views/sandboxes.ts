import type {PodSandbox, PodSandboxMetadata, PodSandboxState} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateId} from '../../format/id.js';
import type {Column} from '../../format/table.js';
import {formatGoTime} from '../../format/time.js';
import {mapLines} from './lines.js';

/** What `pods` calls the states. */
export const SANDBOX_STATES = {
  SANDBOX_READY: 'Ready',
  SANDBOX_NOTREADY: 'NotReady',
} as const satisfies Record<PodSandboxState, string>;

/** The columns of `pods`; `full` = whole ids. */
export function sandboxColumns(nowMs: number, full: boolean): readonly Column<PodSandbox>[] {
  return [
    {header: 'POD ID', value: (row) => (full ? row.id : truncateId(row.id))},
    {header: 'CREATED', value: (row) => humanAgo(row.createdAt, nowMs)},
    {header: 'STATE', value: (row) => SANDBOX_STATES[row.state]},
    {header: 'NAME', value: (row) => row.metadata?.name ?? ''},
    {header: 'NAMESPACE', value: (row) => row.metadata?.namespace ?? ''},
    {header: 'ATTEMPT', value: (row) => String(row.metadata?.attempt ?? 0)},
    {header: 'RUNTIME', value: runtimeName},
  ];
}

function runtimeName({runtimeHandler}: PodSandbox): string {
  return runtimeHandler === '' ? '(default)' : runtimeHandler;
}

/** A sandbox in `pods -v`, with an empty line behind it. */
export function sandboxBlock(sandbox: PodSandbox): string {
  const attempt = sandbox.metadata?.attempt ?? 0;
  return [
    `ID: ${sandbox.id}`,
    ...metadataLines(sandbox.metadata),
    ...(attempt === 0 ? [] : [`Attempt: ${attempt}`]),
    `Status: ${SANDBOX_STATES[sandbox.state]}`,
    `Created: ${formatGoTime(sandbox.createdAt)}`,
    ...mapLines('Labels:', sandbox.labels),
    ...mapLines('Annotations:', sandbox.annotations),
    `Runtime: ${runtimeName(sandbox)}`,
    '\n',
  ].join('\n');
}

/** A sandbox's name, UID and namespace, as far as it has them. */
export function metadataLines(metadata: PodSandboxMetadata | undefined): readonly string[] {
  if (metadata === undefined) return [];
  const parts = [
    ['Name', metadata.name],
    ['UID', metadata.uid],
    ['Namespace', metadata.namespace],
  ] as const;
  return parts.filter(([, value]) => value !== '').map(([key, value]) => `${key}: ${value}`);
}
