import {shorten} from '../../base/shorten.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {diagnose} from './causes/diagnose.js';
import {snapshotOfStatus} from './snapshot/status-snapshot.js';

/** Number of characters of a cause in a table. */
const MAX_LENGTH = 100;

/** Returns the most important cause that the status of a pod tells, for a cell of a table; `<none>` if nothing is wrong. */
export function shortCause(shown: ShownPod, nowMs: number): string {
  const [first] = diagnose(snapshotOfStatus(shown, nowMs)).filter(({severity}) => severity !== 'progress');
  return first === undefined ? '<none>' : shorten(first.cause, MAX_LENGTH);
}
