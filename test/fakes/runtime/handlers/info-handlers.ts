import type {FakeRuntimeState} from '../fake-runtime-state.js';
import type {Handlers, ResponseOf} from '../cri-messages.js';

/** The RPCs of the runtime itself. */
export function infoHandlers(state: FakeRuntimeState): Handlers {
  const {runtimeName = 'fake', runtimeVersion = 'v1.0.0', cgroupDriver = 'CGROUPFS'} = state.options;
  return {
    Version: () => ({version: '0.1.0', runtimeName, runtimeVersion, runtimeApiVersion: 'v1'}),
    Status: ({verbose}) => ({...status(state), info: verbose ? verboseInfo() : {}}),
    RuntimeConfig: () => ({linux: {cgroupDriver}}),
    UpdateRuntimeConfig: () => ({}),
  };
}

function status(state: FakeRuntimeState): ResponseOf<'Status'> {
  const features = {recursiveReadOnlyMounts: true, userNamespaces: true};
  const names = ['', ...(state.options.runtimeHandlers ?? [])];
  return {
    status: {conditions: [...state.conditions.values()]},
    runtimeHandlers: names.map((name) => ({name, features})),
    features: {supplementalGroupsPolicy: true},
  };
}

/** Keys of containerd's verbose info, each with JSON or plain text. */
function verboseInfo(): Record<string, string> {
  return {
    config: JSON.stringify({sandboxImage: 'localhost:5000/pause:1'}),
    golang: JSON.stringify('go1.24.0'),
    lastCNILoadStatus: 'OK',
  };
}
