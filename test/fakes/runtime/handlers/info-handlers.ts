import type {FakeRuntimeState} from '../fake-runtime-state.js';
import type {Handlers, ResponseOf} from '../cri-messages.js';

/** The RPCs of the runtime itself. */
export function infoHandlers(state: FakeRuntimeState): Handlers {
  const {profile} = state;
  const {
    runtimeName = profile.runtimeName,
    runtimeVersion = profile.runtimeVersion,
    cgroupDriver = 'CGROUPFS',
  } = state.options;
  return {
    Version: () => ({version: '0.1.0', runtimeName, runtimeVersion, runtimeApiVersion: 'v1'}),
    Status: ({verbose}) => ({...status(state), info: verbose ? profile.runtimeInfo() : {}}),
    RuntimeConfig: () => ({linux: {cgroupDriver}}),
    UpdateRuntimeConfig: () => ({}),
  };
}

function status(state: FakeRuntimeState): ResponseOf<'Status'> {
  const conditions = [...state.conditions.values()];
  if (!state.profile.reportsHandlers) return {status: {conditions}};
  const {userNamespaces = true} = state.options;
  const features = {recursiveReadOnlyMounts: true, userNamespaces};
  const names = ['', ...(state.options.runtimeHandlers ?? [])];
  return {
    status: {conditions},
    runtimeHandlers: names.map((name) => ({name, features})),
    features: {supplementalGroupsPolicy: true},
  };
}
