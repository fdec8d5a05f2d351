import {isObject} from '../../base/is-object.js';
import type {SavedNode} from '../../cli/archive/saved-node.js';
import {podUid} from '../../cri/ids.js';
import type {RecordedEvent} from '../../kubelet/index.js';
import type {ListedPod} from './listed-pod.js';
import {isPod} from './local-kubelet.js';
import {POD_MANAGERS} from './pod-selection-flags.js';

/** Name of the part of an archive with the pods and what `why` answers from. */
export const PODS_PART = 'why';

/** Returns the pods of a saved node, sorted as they were saved. Throws ConfigError if it has none, or they have another form. */
export function listSavedPods(node: SavedNode): readonly ListedPod[] {
  const {pods} = node.part(PODS_PART, 'facts about pods');
  if (!Array.isArray(pods)) throw notPods(node);
  return pods.map((saved: unknown) => listSavedPod(node, saved));
}

function listSavedPod(node: SavedNode, saved: unknown): ListedPod {
  if (!isObject(saved) || !isPod(saved['pod'])) throw notPods(node);
  const {pod, isUnattended, events} = saved;
  const manager = POD_MANAGERS.find((name) => name === saved['manager']);
  if (manager === undefined || !Array.isArray(events) || !events.every(isEvent)) throw notPods(node);
  const {uid = '', namespace = '', name = '', labels = {}} = pod.metadata;
  return {
    ...{uid: podUid(uid), namespace, name, labels, manager},
    saved: {pod, events, isUnattended: isUnattended === true},
  };
}

function isEvent(value: unknown): value is RecordedEvent {
  return (
    isObject(value) &&
    ['type', 'reason', 'message', 'firstTimestamp', 'lastTimestamp'].every(
      (field) => typeof value[field] === 'string',
    ) &&
    !Number.isNaN(Date.parse(String(value['firstTimestamp']))) &&
    typeof value['count'] === 'number' &&
    ['undefined', 'string'].includes(typeof value['fieldPath'])
  );
}

const notPods = (node: SavedNode): Error => node.unusable('its facts about pods have another form');
