import type {ContainerRecord, SandboxRecord} from './runtime-records.js';
import type {FakeRuntimeState} from './fake-runtime-state.js';

/** A container to be created. */
export interface OciSpecInput {
  readonly config: ContainerRecord['config'];
  readonly sandbox: SandboxRecord;
  readonly argv: readonly string[];
}

type Rule = (state: FakeRuntimeState, spec: OciSpecInput) => string | undefined;

/** Returns containerd's error for a container without a valid OCI spec, or undefined if it is valid. */
export function findOciSpecError(state: FakeRuntimeState, spec: OciSpecInput): string | undefined {
  for (const rule of RULES) {
    const fault = rule(state, spec);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const RULES: readonly Rule[] = [
  (_state, {argv}) => (argv.length === 0 ? 'failed to generate spec: no command specified' : undefined),
  (_state, {config, sandbox}) => {
    const wanted = config.linux?.securityContext?.privileged === true;
    const allowed = sandbox.config.linux?.securityContext?.privileged === true;
    return wanted && !allowed ? 'no privileged container allowed in sandbox' : undefined;
  },
  (_state, {config}) => {
    const {runAsUser = null, runAsUsername = '', runAsGroup = null} = config.linux?.securityContext ?? {};
    const lonely = runAsGroup !== null && runAsUser === null && runAsUsername === '';
    return lonely
      ? `failed to generate user string: user group "${runAsGroup.value}" is specified without user`
      : undefined;
  },
  (state, {config, sandbox}) => {
    const namespaces = config.linux?.securityContext?.namespaceOptions;
    return namespaces?.pid === 'TARGET' ? targetFault(state, namespaces.targetId, sandbox.id) : undefined;
  },
];

/** Checks a target container: its PID namespace can be joined while it runs in the same sandbox. */
function targetFault(state: FakeRuntimeState, targetId: string, sandboxId: string): string | undefined {
  const target = state.containers.get(targetId);
  const failure = 'invalid target container: container';
  if (target === undefined) return `${failure} "${targetId}" does not exist: not found`;
  if (target.sandboxId !== sandboxId)
    return `${failure} "${targetId}" (sandbox ${target.sandboxId}) does not belong to sandbox ${sandboxId}`;
  if (target.state !== 'CONTAINER_RUNNING')
    return `${failure} "${targetId}" is not running - in state ${target.state}`;
  return undefined;
}
