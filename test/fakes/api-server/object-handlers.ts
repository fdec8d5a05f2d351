import {randomUUID} from 'node:crypto';
import type {ApiCall, Handler, Handlers} from './api-call.js';
import {answer, answerStatus} from './api-request.js';
import {applyMergePatch} from './merge-patch.js';
import type {ObjectStorage, StoredObject} from './object-storage.js';
import {startDeletion} from './pod-deletion.js';
import {selectorOf} from './selectors.js';
import {tableOf, wantsTable} from './tables.js';

/** Time of everything that the server does: tests compare times of the kubelet only. */
export const NOW = '2026-05-01T12:00:00Z';

/** Handlers of plain objects, by method; an object's subresource, such as its status, is part of the object. */
export const OBJECT_HANDLERS: Handlers = {
  GET: withObject(({request, target: {kind}, response}, found) => {
    answer(response, 200, wantsTable(request, kind) ? tableOf(kind, [found]) : found);
  }),
  POST: createObject,
  PUT: async (call) => {
    const {uid} = (call.request.body?.['metadata'] ?? {}) as {readonly uid?: string};
    // A UID is a precondition, also if the object does not exist.
    if (uid !== undefined && call.storage.get(objectPath(call)) === undefined) answerWrongUid(call);
    else await withObject(replaceObject)(call);
  },
  PATCH: withObject(patchObject),
  DELETE: async (call) => {
    if (call.target.name === undefined) deleteCollection(call);
    else await withObject(deleteObject)(call);
  },
};

/** Stores a new object at a path such as `/api/v1/namespaces/default/configmaps/settings`. */
export function storeObject(storage: ObjectStorage, path: string, object: object): StoredObject {
  return storage.put(path, {...object, metadata: newMetadata(path, object)});
}

/** Deletes a pod as a user does, with its grace period by default. */
export function deletePod(storage: ObjectStorage, path: string, gracePeriodSeconds?: number): void {
  const pod = storage.get(path);
  if (pod === undefined) return;
  const {pod: terminating, isDeleted} = startDeletion(pod, {gracePeriodSeconds, now: NOW});
  if (pod.metadata.deletionTimestamp === undefined || !isDeleted) storage.put(path, terminating);
  if (isDeleted) storage.delete(path);
}

/** Path at which the object of a call is stored. */
export function objectPath({target: {collection, name = ''}}: Pick<ApiCall, 'target'>): string {
  return `${collection}/${name}`;
}

/** Calls `handle` with the stored object, or answers 404. */
export function withObject(handle: (call: ApiCall, found: StoredObject) => void | Promise<void>): Handler {
  return async (call) => {
    const found = call.storage.get(objectPath(call));
    if (found === undefined) {
      const {resource, name = ''} = call.target;
      answerStatus(call.response, 404, {reason: 'NotFound', message: `${resource} "${name}" not found`});
    } else await handle(call, found);
  };
}

/** Stores the object of a POST, or answers 409 if its name is taken. */
export function createObject({request: {path, body = {}}, storage, response}: ApiCall): void {
  const {name: given, generateName = ''} = body['metadata'] as {name?: string; generateName?: string};
  const name = given ?? `${generateName}${randomUUID().slice(0, 5)}`;
  const at = `${path}/${name}`;
  if (storage.get(at) === undefined) answer(response, 201, storeObject(storage, at, body));
  else answerStatus(response, 409, {reason: 'AlreadyExists', message: `"${name}" already exists`});
}

function replaceObject(call: ApiCall, found: StoredObject): void {
  const {request, storage, response} = call;
  const {body = {}} = request;
  const metadata = (body['metadata'] ?? {}) as {readonly uid?: string; readonly resourceVersion?: string};
  if (!requireUid(call, found, metadata.uid)) return;
  if (metadata.resourceVersion !== found.metadata.resourceVersion)
    answerStatus(response, 409, {reason: 'Conflict', message: 'the object has been modified'});
  else {
    const stored = {...found, ...body, metadata: {...found.metadata, ...metadata}};
    answer(response, 200, storage.put(objectPath(call), stored));
  }
}

function patchObject(call: ApiCall, found: StoredObject): void {
  const {request, storage, response} = call;
  const {body = {}} = request;
  if (!requireUid(call, found, (body['metadata'] as {uid?: string} | undefined)?.uid)) return;
  const patched = applyMergePatch(found, body) as StoredObject;
  const isSame = JSON.stringify(patched) === JSON.stringify(found);
  answer(response, 200, isSame ? found : storage.put(objectPath(call), withGeneration(patched, found)));
}

/** Raises the generation if the desired state has changed. */
function withGeneration(patched: StoredObject, found: StoredObject): StoredObject {
  if (JSON.stringify(patched['spec']) === JSON.stringify(found['spec'])) return patched;
  const {generation = 1} = found.metadata;
  return {...patched, metadata: {...patched.metadata, generation: generation + 1}};
}

function deleteObject(call: ApiCall, found: StoredObject): void {
  const {request, storage, response} = call;
  const {preconditions, gracePeriodSeconds} = (request.body ?? {}) as {
    preconditions?: {uid?: string};
    gracePeriodSeconds?: number;
  };
  if (!requireUid(call, found, preconditions?.uid)) return;
  if (found.kind === 'Pod') deletePod(storage, objectPath(call), gracePeriodSeconds);
  else storage.delete(objectPath(call));
  answer(response, 200, storage.get(objectPath(call)) ?? found);
}

function deleteCollection({target: {collection}, request: {query}, storage, response}: ApiCall): void {
  const selects = selectorOf(query);
  for (const object of storage.list(collection).filter(selects))
    storage.delete(`${collection}/${object.metadata.name}`);
  answer(response, 200, {kind: 'Status', status: 'Success'});
}

/** Reports whether the UID of a precondition is that of the object, and answers 409 if not. */
function requireUid(call: ApiCall, found: StoredObject, uid: string | undefined): boolean {
  if (uid === undefined || uid === found.metadata.uid) return true;
  answerWrongUid(call);
  return false;
}

function answerWrongUid({response}: ApiCall): void {
  answerStatus(response, 409, {
    reason: 'Conflict',
    message: 'the UID in the precondition does not match',
  });
}

function newMetadata(path: string, object: object): object {
  const namespace = /\/namespaces\/([^/]+)/.exec(path)?.[1];
  const {metadata = {}} = object as {readonly metadata?: object};
  return {
    ...(namespace !== undefined && {namespace}),
    name: path.split('/').at(-1),
    uid: randomUUID(),
    creationTimestamp: NOW,
    ...metadata,
  };
}
