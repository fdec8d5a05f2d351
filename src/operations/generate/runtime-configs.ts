import {
  fromJson,
  type ContainerConfig,
  type ContainerStatus,
  type ContainerStatusResponse,
  type Init,
  type LinuxContainerConfig,
  type PodSandboxConfig,
  type PodSandboxStatusResponse,
} from '../../cri/index.js';
import type {Json} from '../../format/json.js';
import {completeMessage} from '../../cri/complete-message.js';
import {
  at,
  factsOf,
  number,
  objectOf,
  parseSandboxInfo,
  text,
  texts,
  type ImageInfo,
} from '../inspect/verbose-info.js';

/** Build information of an image, by the reference of a container's status. */
export type FindImage = (imageRef: string) => ImageInfo | undefined;

/** Variables that a runtime adds to every container. */
const RUNTIME_VARIABLES: ReadonlySet<string> = new Set(['HOSTNAME', 'TERM', 'container']);

/** Capabilities of containers of CRI-O that were created without any. */
const CRIO_CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETPCAP',
  'SETUID',
];

/**
 * Returns the config that a container was created from. Containerd returns it in the verbose info; with other runtimes
 * it is derived from the process, less what the image says.
 */
export function readContainerConfig(
  {status, info}: ContainerStatusResponse,
  findImage: FindImage,
): ContainerConfig {
  const facts = factsOf(info);
  const values = environment(texts(at(facts, 'runtimeSpec', 'process', 'env')));
  const found = decodeConfig('ContainerConfig', at(facts, 'config'));
  if (found === undefined) {
    const made = configFromProcess(status, facts, findImage(status?.imageRef ?? ''));
    return completeMessage('ContainerConfig', made);
  }
  const config = completeMessage('ContainerConfig', found);
  // Some versions print the values in base64.
  const envs = config.envs.map(({key, value}) => ({key, value: Buffer.from(values.get(key) ?? value)}));
  return {...config, envs};
}

/** Reports whether the runtime does not return the config of a container, so that it is derived. */
export function lacksConfig({info}: ContainerStatusResponse): boolean {
  return decodeConfig('ContainerConfig', at(factsOf(info), 'config')) === undefined;
}

/** Reports whether the runtime returns neither the config nor the process of a container. */
export function lacksProcess(response: ContainerStatusResponse): boolean {
  return lacksConfig(response) && at(factsOf(response.info), 'runtimeSpec', 'process') === undefined;
}

/** Returns the config that a sandbox was created from, as far as the runtime knows it. */
export function readSandboxConfig(response: PodSandboxStatusResponse): PodSandboxConfig {
  const config = decodeConfig('PodSandboxConfig', at(factsOf(response.info), 'config'));
  return completeMessage(
    'PodSandboxConfig',
    config?.metadata === undefined ? sandboxFromStatus(response) : config,
  );
}

function sandboxFromStatus({status, info}: PodSandboxStatusResponse): Init<PodSandboxConfig> {
  const namespaceOptions = status?.linux?.namespaces?.options;
  return {
    metadata: status?.metadata,
    labels: status?.labels,
    annotations: status?.annotations,
    portMappings: parseSandboxInfo(info).ports.map((port) => ({
      ...port,
      protocol: port.protocol === 'UDP' || port.protocol === 'SCTP' ? port.protocol : 'TCP',
    })),
    linux: {securityContext: {namespaceOptions}},
  };
}

function decodeConfig<Name extends 'ContainerConfig' | 'PodSandboxConfig'>(
  name: Name,
  data: Json | undefined,
) {
  if (Object.keys(objectOf(data)).length === 0) return undefined;
  try {
    return fromJson(name, data, {onUnknown: () => undefined, bytes: 'text'});
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function environment(variables: readonly string[]): ReadonlyMap<string, string> {
  return new Map(variables.map((text) => [text.replace(/=.*$/s, ''), text.replace(/^[^=]*=/, '')]));
}

function configFromProcess(
  status: ContainerStatus | undefined,
  facts: Json,
  image: ImageInfo | undefined,
): Init<ContainerConfig> {
  const process = at(facts, 'runtimeSpec', 'process');
  const added = objectOf(at(facts, 'runtimeSpec', 'annotations'));
  const cwd = text(at(process, 'cwd'));
  return {
    metadata: status?.metadata,
    image: status?.image,
    command: ownCommand(texts(at(process, 'args')), image),
    envs: ownVariables(texts(at(process, 'env')), new Set(image?.env)),
    workingDir: cwd === '/' || cwd === image?.workingDir ? '' : cwd,
    mounts: status?.mounts,
    labels: status?.labels,
    annotations: status?.annotations,
    tty: at(process, 'terminal') === true,
    stdin: text(added['io.kubernetes.cri-o.Stdin']) === 'true',
    stdinOnce: text(added['io.kubernetes.cri-o.StdinOnce']) === 'true',
    linux: linuxFromSpec(status, facts),
  };
}

/** Returns the command of a process, empty if it is that of the image. */
function ownCommand(args: readonly string[], image: ImageInfo | undefined): readonly string[] {
  const ofImage = image === undefined ? [] : [...image.entrypoint, ...image.command];
  return args.length === ofImage.length && args.every((arg, index) => arg === ofImage[index]) ? [] : args;
}

function ownVariables(
  variables: readonly string[],
  ofImage: ReadonlySet<string>,
): Init<ContainerConfig>['envs'] {
  return [...environment(variables.filter((variable) => !ofImage.has(variable)))]
    .filter(([key]) => !RUNTIME_VARIABLES.has(key))
    .map(([key, value]) => ({key, value: Buffer.from(value)}));
}

function linuxFromSpec(status: ContainerStatus | undefined, facts: Json): Init<LinuxContainerConfig> {
  const spec = at(facts, 'runtimeSpec');
  const [uid = 0, gid = 0] = ['uid', 'gid'].map((name) => number(at(spec, 'process', 'user', name)));
  const privileged = at(facts, 'privileged') === true;
  const bounding = texts(at(spec, 'process', 'capabilities', 'bounding'));
  const isConfined = at(spec, 'linux', 'seccomp') !== undefined;
  return {
    resources: status?.resources?.linux,
    securityContext: {
      privileged,
      runAsUser: uid > 0 ? {value: BigInt(uid)} : undefined,
      runAsGroup: uid > 0 ? {value: BigInt(gid)} : undefined,
      readonlyRootfs: at(spec, 'root', 'readonly') === true,
      noNewPrivs: at(spec, 'process', 'noNewPrivileges') === true,
      capabilities: capabilitiesOf(bounding),
      seccomp: {profileType: isConfined ? 'RuntimeDefault' : 'Unconfined'},
    },
  };
}

/** Returns the difference between the capabilities of a process and those of a container without any given. */
function capabilitiesOf(bounding: readonly string[]) {
  if (bounding.length === 0) return {};
  const names = bounding.map((name) => name.replace(/^CAP_/, ''));
  return {
    addCapabilities: names.filter((name) => !CRIO_CAPABILITIES.includes(name)),
    dropCapabilities: CRIO_CAPABILITIES.filter((name) => !names.includes(name)),
  };
}
