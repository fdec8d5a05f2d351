import {omit} from '../../../src/base/omit.js';
import type {ApiCall, Handlers} from './api-call.js';
import {answer} from './api-request.js';
import {applyMergePatch} from './merge-patch.js';
import {createObject, deletePod, NOW, objectPath, withObject} from './object-handlers.js';
import type {StoredObject} from './object-storage.js';

/** Handlers of requests about pods that differ from those of plain objects. */
export const POD_HANDLERS: Handlers = {'POST pods': createPod, 'POST pods/eviction': withObject(evictPod)};

/** Fields that the API server sets if a pod does not; kubectl relies on them. */
export const POD_DEFAULTS = {
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  enableServiceLinks: true,
};

/** Creates a pod, such as a mirror pod: its UID, generation and status are the server's (podStrategy). */
function createPod(call: ApiCall): void {
  const {body = {}} = call.request;
  const metadata = {...omit(body['metadata'] as {uid?: string}, 'uid'), generation: 1};
  const status = {phase: 'Pending', qosClass: 'BestEffort'};
  const spec = {...POD_DEFAULTS, ...(body['spec'] as object)};
  createObject({...call, request: {...call.request, body: {...body, metadata, spec, status}}});
}

/** Sets the condition DisruptionTarget and deletes the pod, without regard to disruption budgets (EvictionREST). */
function evictPod(call: ApiCall, pod: StoredObject): void {
  const {request, storage, response} = call;
  const {deleteOptions = {}} = (request.body ?? {}) as {deleteOptions?: {gracePeriodSeconds?: number}};
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: NOW,
  };
  storage.put(objectPath(call), applyMergePatch(pod, {status: {conditions: [condition]}}) as StoredObject);
  deletePod(storage, objectPath(call), deleteOptions.gracePeriodSeconds);
  answer(response, 201, {kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201});
}
