import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import type {EnvFiles} from '../../../../../src/kubelet/managers/kuberuntime/config/env/env-files.js';

/** What a container's environment may refer to, for containers that refer to nothing. */
export const NO_REFERENCES = {objects: NO_OBJECTS, envFiles: new Map() as EnvFiles};
