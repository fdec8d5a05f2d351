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
    Status: ({verbose}) => ({...status(state), info: verbose ? runtimeInfo(state) : {}}),
    RuntimeConfig: () => ({linux: {cgroupDriver}}),
    UpdateRuntimeConfig: () => ({}),
  };
}

/** Returns the verbose part of the status, with what the test adds to the configuration. */
function runtimeInfo({
  profile,
  options: {runtimeConfig},
}: FakeRuntimeState): Readonly<Record<string, string>> {
  const info = profile.runtimeInfo();
  if (runtimeConfig === undefined) return info;
  return {
    ...info,
    config: JSON.stringify({...(JSON.parse(info['config'] ?? '{}') as object), ...runtimeConfig}),
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
