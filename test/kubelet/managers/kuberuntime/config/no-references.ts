import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import type {EnvFiles} from '../../../../../src/kubelet/managers/kuberuntime/config/env/env-files.js';

/** Context of the environment of containers that refer to no objects or volumes. */
export const NO_REFERENCES = {objects: NO_OBJECTS, envFiles: new Map() as EnvFiles};
