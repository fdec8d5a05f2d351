import type {ContainerPort, Container, EnvVar, Lifecycle} from '../../api/types/v1-pod.js';
import {completeMessage} from '../../cri/complete-message.js';
import type {ContainerConfig, KeyValue} from '../../cri/index.js';
import type {Json} from '../../format/json.js';
import {parsed} from '../inspect/verbose-info.js';
import {generateResources} from './generate-resources.js';
import {generateSecurityContext} from './generate-security-context.js';
import {toDnsLabel, type VolumeCollector} from './generate-volumes.js';
import {omitUnset} from './omit-unset.js';

const ANNOTATION = 'io.kubernetes.container.';
/** Names of variables that often contain secrets. */
const SECRET_NAME = /PASS(?:WORD|WD|PHRASE)?(?:_|$)|SECRET|TOKEN|CREDENTIAL|API_?KEY|PRIVATE_?KEY/i;

/** Context of a container. */
export interface ContainerContext {
  /** Name of the image. */
  readonly image: string;
  readonly volumes: VolumeCollector;
  readonly isHostNetwork: boolean;
  /** Receives what cannot be in a manifest. */
  readonly note: (text: string) => void;
}

/** Returns the container of a manifest from the config that it was created from. */
export function generateContainer(config: ContainerConfig, context: ContainerContext): Container {
  const {image, volumes, isHostNetwork, note} = context;
  const name = containerName(config, note);
  const {command, args, workingDir, annotations, stdin, stdinOnce, tty, linux} = config;
  for (const {hostPath} of config.devices) note(`device "${hostPath}" of container "${name}" is left out`);
  const noteOwn = (text: string): void => {
    note(`container "${name}": ${text}`);
  };
  return omitUnset<Container>({
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    command,
    args,
    workingDir,
    ports: recordedPorts(annotations, isHostNetwork),
    env: environmentOf(config.envs, noteOwn),
    volumeMounts: volumes.mountsOf(config.mounts),
    resources: generateResources(linux?.resources ?? completeMessage('LinuxContainerResources', {})),
    securityContext: generateSecurityContext(
      linux?.securityContext ?? completeMessage('LinuxContainerSecurityContext', {}),
      noteOwn,
    ),
    ...terminationOf(annotations),
    stdin,
    stdinOnce,
    tty,
  });
}

function containerName({metadata}: ContainerConfig, note: ContainerContext['note']): string {
  const given = metadata?.name ?? '';
  const label = toDnsLabel(given);
  const name = label === '' ? 'main' : label;
  if (name !== given) note(`container "${given}" is named "${name}", since names must be DNS labels`);
  return name;
}

type Annotations = Readonly<Record<string, string>>;

function annotated(annotations: Annotations, name: string): Json {
  return parsed(annotations[`${ANNOTATION}${name}`] ?? 'null');
}

/** Returns the ports that a kubelet recorded, without host ports that the host's network implies. */
function recordedPorts(annotations: Annotations, isHostNetwork: boolean): readonly ContainerPort[] {
  const list = annotated(annotations, 'ports');
  // The kubelet wrote it from a valid Pod.
  const ports = Array.isArray(list) ? (list as unknown as readonly ContainerPort[]) : [];
  if (!isHostNetwork) return ports;
  return ports.map(({name, containerPort, protocol}) =>
    omitUnset<ContainerPort>({name, containerPort, protocol}),
  );
}

/** Returns what a kubelet recorded about the end of a container. */
function terminationOf(annotations: Annotations): Partial<Container> {
  const policy = annotations[`${ANNOTATION}terminationMessagePolicy`];
  const preStop = annotated(annotations, 'preStopHandler');
  // The kubelet wrote it from a valid Pod.
  const lifecycle = preStop === null ? undefined : ({preStop} as unknown as Lifecycle);
  return {
    ...omitUnset({terminationMessagePath: annotations[`${ANNOTATION}terminationMessagePath`], lifecycle}),
    ...(policy === 'FallbackToLogsOnError' && {terminationMessagePolicy: policy}),
  };
}

/** Returns the variables without those of Services, which a kubelet adds. */
function environmentOf(envs: readonly KeyValue[], note: ContainerContext['note']): readonly EnvVar[] {
  const variables = envs.map(({key, value}) => ({name: key, value: Buffer.from(value).toString()}));
  const services = variables.flatMap(({name}) => /^(.+)_SERVICE_HOST$/.exec(name)?.[1] ?? []);
  const own = variables.filter(({name}) => !services.some((service) => isOfService(name, service)));
  const secret = own.filter(({name}) => SECRET_NAME.test(name)).map(({name}) => name);
  if (secret.length > 0) note(`${secret.join(', ')} may be secret: move the values to a Secret`);
  // References must not be expanded a second time.
  return own.map(({name, value}) => ({name, value: value.replaceAll('$(', () => '$$(')}));
}

const SERVICE_VARIABLE =
  /^_(?:SERVICE_(?:HOST|PORT(?:_.+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

function isOfService(name: string, service: string): boolean {
  return name.startsWith(`${service}_`) && SERVICE_VARIABLE.test(name.slice(service.length));
}
