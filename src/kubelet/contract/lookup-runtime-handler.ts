import type {Pod} from '../../api/types/v1-pod.js';
import {createObjectNotFoundError, type ApiObjects} from './api-objects.js';

/**
 * Returns the name of the pod's runtime handler; empty for the default one (runtimeclass
 * Manager.LookupRuntimeHandler).
 *
 * @throws ObjectNotFoundError when the pod's RuntimeClass does not exist.
 */
export function lookupRuntimeHandler({spec}: Pod, objects: ApiObjects): string {
  const {runtimeClassName: name = ''} = spec;
  if (name === '') return '';
  const found = objects.runtimeClass(name);
  if (found === undefined) throw createObjectNotFoundError(objects, 'RuntimeClass', name);
  return found.handler;
}
