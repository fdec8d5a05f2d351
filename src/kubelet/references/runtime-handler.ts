import type {Pod} from '../../api/v1.js';
import {objectNotFound, type ApiObjects} from '../container/api-objects.js';

/**
 * What the runtime calls the way to run the pod: empty for its usual one (runtimeclass Manager.LookupRuntimeHandler).
 *
 * @throws ObjectNotFoundError when the pod's RuntimeClass isn't there.
 */
export function runtimeHandlerOf({spec}: Pod, objects: ApiObjects): string {
  const {runtimeClassName: name = ''} = spec;
  if (name === '') return '';
  const found = objects.runtimeClass(name);
  if (found === undefined) throw objectNotFound(objects, 'RuntimeClass', name);
  return found.handler;
}
