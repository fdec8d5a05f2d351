import type {Column} from '../../format/table.js';
import type {PodRow} from './pod-row.js';

/** Options of the columns. */
export interface PodColumnOptions {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly manager: boolean;
  readonly labels: boolean;
}

/** Returns the columns of `get pods`: those of kubectl, and the manager of each pod. */
export function podColumns({wide, namespace, manager, labels}: PodColumnOptions): readonly Column<PodRow>[] {
  return [
    ...(namespace ? [{header: 'NAMESPACE', value: (row: PodRow) => row.namespace}] : []),
    {header: 'NAME', value: ({name}) => name},
    {header: 'READY', value: ({ready}) => ready},
    {header: 'STATUS', value: ({status}) => status},
    {header: 'RESTARTS', value: ({restarts}) => restarts},
    {header: 'AGE', value: ({age}) => age},
    ...(wide ? WIDE : []),
    ...(wide || manager ? [{header: 'MANAGER', value: (row: PodRow) => row.manager}] : []),
    ...(labels ? [{header: 'LABELS', value: (row: PodRow) => row.labels}] : []),
  ];
}

const WIDE: readonly Column<PodRow>[] = [
  {header: 'IP', value: ({ip}) => ip},
  {header: 'NODE', value: ({node}) => node},
  {header: 'NOMINATED NODE', value: ({nominatedNode}) => nominatedNode},
  {header: 'READINESS GATES', value: ({readinessGates}) => readinessGates},
];
