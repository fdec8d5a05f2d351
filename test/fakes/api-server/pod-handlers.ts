import {omit} from '../../../src/base/omit.js';
import type {ApiCall, Handlers} from './api-call.js';
import {createObject} from './object-handlers.js';

/** Handlers of requests about pods that differ from those of plain objects. */
export const POD_HANDLERS: Handlers = {'POST pods': createPod};

/** Creates a pod, such as a mirror pod: its UID, generation and status are the server's (podStrategy). */
function createPod(call: ApiCall): void {
  const {body = {}} = call.request;
  const metadata = {...omit(body['metadata'] as {uid?: string}, 'uid'), generation: 1};
  const status = {phase: 'Pending', qosClass: 'BestEffort'};
  createObject({...call, request: {...call.request, body: {...body, metadata, status}}});
}
