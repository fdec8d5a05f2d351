import type {Node} from '../../../src/api/types/v1-node.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {nodeColumns} from '../../../src/features/node/node-table.js';
import {computePodRow, type PodRow} from '../../../src/features/pods/pod-row.js';
import type {RecordedRequest} from './api-request.js';
import type {StoredObject} from './object-storage.js';

/** A column and its cell. Only `-o wide` shows columns with priority 1. */
interface TableColumn {
  readonly name: string;
  readonly priority: 0 | 1;
  readonly cell: (object: StoredObject) => string;
}

const POD_COLUMNS: readonly (readonly [name: string, field: keyof PodRow, priority: 0 | 1])[] = [
  ['Name', 'name', 0],
  ['Ready', 'ready', 0],
  ['Status', 'status', 0],
  ['Restarts', 'restarts', 0],
  ['Age', 'age', 0],
  ['IP', 'ip', 1],
  ['Node', 'node', 1],
];

/** Reports whether the client wants tables and the server has one for this kind; others are printed by the client. */
export function wantsTable({headers}: RecordedRequest, kind: string): boolean {
  return columnsOf(kind) !== undefined && String(headers['accept']).includes('as=Table');
}

/** Returns objects of a kind as a table, as the API server prints them. */
export function tableOf(kind: string, objects: readonly StoredObject[], resourceVersion?: string): object {
  const columns = columnsOf(kind) ?? [];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {resourceVersion},
    columnDefinitions: columns.map(({name, priority}) => ({
      ...{name, priority, type: 'string', format: name === 'Name' ? 'name' : '', description: name},
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({cell}) => cell(object)),
      object: {kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata},
    })),
  };
}

function columnsOf(kind: string): readonly TableColumn[] | undefined {
  if (kind === 'Pod')
    return POD_COLUMNS.map(([name, field, priority]) => ({
      ...{name, priority},
      cell: (pod) => computePodRow(pod as unknown as Pod, Date.now())[field],
    }));
  if (kind !== 'Node') return undefined;
  const always = nodeColumns({wide: false, nowMs: Date.now()}).length;
  return nodeColumns({wide: true, nowMs: Date.now()}).map(({header, value}, index) => ({
    name: header === 'NAME' ? 'Name' : header,
    priority: index < always ? 0 : 1,
    cell: (node) => value(node as unknown as Node),
  }));
}
