import type {EnvFromSource, EnvVar} from '../../../../api/types/v1-pod.js';
import {podRef} from '../../../contract/pod-ref.js';
import {because, joinPath, worded, type Named, type Provenance} from './provenance.js';
import type {RuleLeaf} from './rule-tree.js';
import type {ContainerScope} from './scope.js';

/** Explains a variable: env before envFrom, then Services and managers of the node. The last source of a name counts. */
export function environment(scope: ContainerScope, {whole, below: [index]}: RuleLeaf): Provenance {
  const envs = whole as readonly {readonly key?: string}[];
  const key = envs[Number(index)]?.key ?? '';
  const {env = [], envFrom = []} = scope.container;
  const own = env.findLastIndex(({name}) => name === key);
  if (own !== -1) return ofVariable(scope, env[own], own);
  const from = envFrom.findLastIndex((source) => mayHave(scope, source, key) !== false);
  const source = envFrom[from];
  if (source !== undefined) return ofObject(scope, source, from, key);
  if (scope.objects?.serviceVariables?.(scope.pod).has(key) === true)
    return because`${{source: {kind: 'object', name: 'Services'}, text: 'a Service'}} that the pod can reach, ${scope.field('spec', 'enableServiceLinks')}`;
  if (scope.granted.length > 0) return because`${scope.ofManagers()}`;
  return because`not in env or envFrom, so a Service or a manager of the node${{text: '', sources: [{kind: 'object', name: 'Services'}]}}`;
}

/** Explains the variables to which texts refer as `$(NAME)`, each once. */
export function expansions(
  scope: ContainerScope,
  texts: readonly string[],
  seen = new Set<string>(),
): Provenance | string {
  const {env = [], envFrom = []} = scope.container;
  const names = texts.flatMap((text) => Array.from(text.matchAll(/\$\(([^)]+)\)/g), ([, name = '']) => name));
  const parts = names.flatMap((name) => {
    if (seen.has(name)) return [];
    seen.add(name);
    const own = env.findLastIndex((variable) => variable.name === name);
    if (own !== -1) return [because`; $(${name}) is ${ofVariable(scope, env[own], own, seen)}`];
    return envFrom.length === 0
      ? []
      : [because`; $(${name}) may be of ${worded(scope.own('envFrom'), 'envFrom')}`];
  });
  return {text: parts.map(({text}) => text).join(''), sources: parts.flatMap(({sources}) => sources)};
}

function ofVariable(
  scope: ContainerScope,
  variable: EnvVar | undefined,
  index: number,
  seen?: Set<string>,
): Provenance {
  const at = scope.own('env', index);
  const {value = '', valueFrom} = variable ?? {};
  if (value !== '' || valueFrom === undefined) {
    const literal = worded(at, `env[${index}].value`);
    return because`${literal}${expansions(scope, [value], seen)}`;
  }
  const [[kind, reference] = ['', {}]] = Object.entries(valueFrom) as [
    string,
    Readonly<Record<string, string>>,
  ][];
  const text = REFERENCES[kind]?.(reference) ?? kind;
  const of = scope.own('env', index, 'valueFrom');
  return because`${worded(of, `valueFrom.${kind} ${text}`)}${behind(scope, kind, reference)}`;
}

const REFERENCES: Readonly<Record<string, (reference: Readonly<Record<string, string>>) => string>> = {
  fieldRef: ({fieldPath}) => String(fieldPath),
  resourceFieldRef: ({containerName, resource}) =>
    containerName === undefined ? String(resource) : `${String(resource)} of container ${containerName}`,
  configMapKeyRef: ({name, key}) => `${String(name)}/${String(key)}`,
  secretKeyRef: ({name, key}) => `${String(name)}/${String(key)}`,
  fileKeyRef: ({volumeName, path, key}) => `${String(volumeName)}/${String(path)}/${String(key)}`,
};

/** Returns the inputs that a reference of a variable leads to, without repeating them in the text. */
function behind(
  scope: ContainerScope,
  kind: string,
  reference: Readonly<Record<string, string>>,
): Provenance {
  if (kind === 'fieldRef') return {text: '', sources: ofFieldPath(scope, String(reference['fieldPath']))};
  if (kind === 'resourceFieldRef') return {text: '', sources: ofResource(scope, reference)};
  return {text: '', sources: [{kind: 'object', name: `${kind} ${String(reference['name'])}`}]};
}

function ofFieldPath(scope: ContainerScope, path: string): readonly Named['source'][] {
  const [, map, key] = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/.exec(path) ?? [];
  if (map !== undefined && key !== undefined) return [scope.field(...map.split('.'), key).source];
  if (path === 'status.podIP' || path === 'status.podIPs')
    return [scope.run('addresses of the pod').source, scope.field('spec', 'hostNetwork').source];
  if (path === 'status.hostIP' || path === 'status.hostIPs')
    return [scope.fact('hostIps', [...scope.node.hostIps.current]).source];
  return [scope.field(...path.split('.')).source];
}

/** Facts of the node from which a container without a limit gets one. */
const CAPACITIES = ['cpuMilli', 'memoryBytes', 'ephemeralStorageBytes'];

function ofResource(
  scope: ContainerScope,
  {resource, containerName}: Readonly<Record<string, string>>,
): readonly Named['source'][] {
  const path = joinPath(['spec', 'containers', '*', 'resources']);
  return [
    {kind: 'manifest', name: containerName === undefined ? scope.own('resources').source.name : path},
    {kind: 'manifest', name: joinPath(['spec', 'initContainers', '*', 'resources'])},
    {kind: 'manifest', name: 'spec.resources'},
    ...(String(resource).startsWith('limits.') ? CAPACITIES : []).map((name) => scope.fact(name).source),
  ];
}

/** Reports whether an object of envFrom has the variable; undefined if its keys are unknown. */
function mayHave(
  scope: ContainerScope,
  {prefix = '', configMapRef, secretRef}: EnvFromSource,
  key: string,
): boolean | undefined {
  if (!key.startsWith(prefix)) return false;
  const {namespace} = podRef(scope.pod);
  const {objects} = scope;
  const name = (configMapRef ?? secretRef)?.name ?? '';
  const data =
    configMapRef === undefined
      ? objects?.secret(namespace, name)?.data
      : objects?.configMap(namespace, name)?.data;
  return data === undefined ? undefined : Object.hasOwn(data, key.slice(prefix.length));
}

function ofObject(scope: ContainerScope, source: EnvFromSource, index: number, key: string): Provenance {
  const {prefix, configMapRef, secretRef} = source;
  const kind = configMapRef === undefined ? 'Secret' : 'ConfigMap';
  const name = (configMapRef ?? secretRef)?.name ?? '';
  const field = worded(scope.own('envFrom', index), `envFrom[${index}]`);
  const object: Named = {source: {kind: 'object', name: `${kind} ${name}`}, text: `${kind} ${name}`};
  const given = prefix === undefined ? '' : ` with prefix ${prefix}`;
  const candidates = (scope.container.envFrom ?? []).filter(
    (each) => mayHave(scope, each, key) === undefined,
  );
  return candidates.length === 0 || mayHave(scope, source, key) === true
    ? because`${field}: ${object}${given}`
    : because`not in env, so envFrom or a Service; the keys of ${field}: ${object} are unknown here`;
}
