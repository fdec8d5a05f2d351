import {X509Certificate} from 'node:crypto';
import type {Node} from '../../../src/api/types/v1-node.js';
import {compare} from '../../../src/base/compare.js';
import {omit} from '../../../src/base/omit.js';
import type {RecordedRequest} from '../../fakes/api-server/api-request.js';
import {signCertificateRequest} from '../../fakes/api-server/certificate-signer.js';
import type {CanonicalNode, CanonicalRead, NodeWrite} from './api-cases.js';
import {sortedJson} from './sorted-json.js';

type Replace = (text: string) => string;
type JsonObject = Readonly<Record<string, unknown>>;

const NODE_PATHS =
  /^\/api\/v1\/nodes|^\/apis\/(coordination|storage|certificates|resource\.k8s\.io\/v1\/resourceslices)/;
/** Kinds of requests; their order is a matter of timing, that within a kind is not. */
const KINDS = ['certificatesigningrequests', '/nodes', 'csinodes', 'leases', ''] as const;
/** Facts about the machine of a recording. */
const MACHINE_FACTS = new Set([
  ...['bootID', 'machineID', 'systemUUID', 'kernelVersion', 'osImage', 'containerRuntimeVersion'],
]);
const SET_BY_SERVER = new Set(['managedFields', 'resourceVersion', 'creationTimestamp', 'selfLink']);
/** Build metadata of kcri in the version of the kubelet. */
const BUILD = /\+kcri\..*$/;

/** Returns what a kubelet wrote about its node: each distinct request, and the states of the Node in the API server. */
export function canonicalNode(requests: readonly RecordedRequest[], replace: Replace): CanonicalNode {
  const changes = requests.filter((request) => isWrite(request) && NODE_PATHS.test(request.path));
  const writes = changes.map((request): NodeWrite => [
    request.method,
    replace(pathWithQuery(request)),
    resultOf(request),
    bodyOf(request, replace),
  ]);
  const states = changes.flatMap(({stored}) =>
    stored?.kind === 'Node' ? [nodeState(stored as unknown as Node, replace)] : [],
  );
  const patches = changes.filter(({method}) => method === 'PATCH');
  return {
    writes: distinct(writes).toSorted((a, b) => compare(kindOf(a), kindOf(b))),
    states: states.filter((state, index) => sortedJson(state) !== sortedJson(states[index - 1] ?? null)),
    patch_keys: [...new Set(patches.flatMap(statusKeys))].toSorted(),
  };
}

/** Reports whether a request changes something and was answered. */
export function isWrite({method, code}: RecordedRequest): boolean {
  return method !== 'GET' && code !== undefined;
}

/** Returns the code of the answer and whether it was that of a fault. */
export function resultOf({code, isFault}: RecordedRequest): string {
  return `${code}${isFault === true ? ' injected' : ''}`;
}

function kindOf([, path]: NodeWrite): string {
  return KINDS.find((kind) => path.includes(kind)) ?? '';
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [sortedJson(value), value])).values()];
}

/** Returns the reads of a kubelet: lists and watches by collection, and GETs with the codes of their answers. */
export function canonicalReads(
  requests: readonly RecordedRequest[],
  replace: Replace,
  isAboutNode: boolean,
): readonly CanonicalRead[] {
  const reads = new Map<string, Set<string>>();
  for (const request of requests) {
    const {method, path, query} = request;
    const isRecorded = isAboutNode || query['watch'] === 'true' || !NODE_PATHS.test(path);
    if (method !== 'GET' || !isRecorded) continue;
    const read = replace(describeRead(request));
    const codes = reads.get(read) ?? new Set();
    reads.set(read, codes);
    if (isCounted(request)) codes.add(resultOf(request));
  }
  return [...reads]
    .map(([read, codes]): CanonicalRead => [read, [...codes].toSorted()])
    .toSorted(([a], [b]) => compare(a, b));
}

function describeRead(request: RecordedRequest): string {
  const {path, query} = request;
  const {fieldSelector} = query;
  if (fieldSelector !== undefined) return `LIST+WATCH ${path}?fieldSelector=${fieldSelector}`;
  return isList(request) ? `LIST+WATCH ${path}` : `GET ${path}`;
}

function isList({query}: RecordedRequest): boolean {
  return [query['watch'], query['fieldSelector'], query['resourceVersion']].some(
    (value) => value !== undefined,
  );
}

/** Reports whether the answer of a read is compared: those of faults, and of GETs of objects that exist or not. */
function isCounted(request: RecordedRequest): boolean {
  const {path, code, isFault} = request;
  if (isFault === true) return code !== undefined;
  if (isList(request)) return false;
  // The Node authorizer answers 403 for a pod that was deleted, which is not recorded.
  return code === 200 || (code === 404 && !path.includes('/pods/'));
}

function pathWithQuery({path, query}: RecordedRequest): string {
  const rest = new URLSearchParams(omit(query, 'timeout')).toString();
  return rest === '' ? path : `${path}?${decodeURIComponent(rest)}`;
}

function statusKeys({body}: RecordedRequest): readonly string[] {
  return Object.keys(body?.['status'] ?? {}).filter((key) => !key.startsWith('$'));
}

function bodyOf({method, path, body}: RecordedRequest, replace: Replace): unknown {
  if (method === 'PATCH' && path.endsWith('/status')) return '(see patch_keys, states)';
  if (method !== 'PUT' || !path.includes('leases')) return canonicalObject(body, replace);
  const spec = (body?.['spec'] ?? {}) as JsonObject;
  return {spec: Object.keys(spec).toSorted(), holder: replace(String(spec['holderIdentity']))};
}

function nodeState({metadata, spec, status = {}}: Node, replace: Replace): JsonObject {
  const {labels = {}, annotations = {}} = metadata;
  const {conditions = [], capacity, allocatable, addresses, images = []} = status;
  const own = (spec.taints ?? []).filter(({key}) => !key.startsWith('node.kubernetes.io/'));
  return {
    conditions: Object.fromEntries(
      conditions.map(({type, status: value, reason = ''}) => [type, `${value} ${reason}`]),
    ),
    taints: own.map(({key, effect}) => `${key}:${effect}`).toSorted(),
    labels: canonicalObject(labels, replace),
    annotations: canonicalObject(annotations, replace),
    capacity: canonicalObject(capacity, replace),
    allocatable: canonicalObject(allocatable, replace),
    addresses: canonicalObject(addresses, replace),
    images: images.length > 0 ? 'some' : 'none',
    volumesInUse: (status as JsonObject)['volumesInUse'] ?? null,
  };
}

/** Returns an object without what differs from run to run. */
export function canonicalObject(value: unknown, replace: Replace): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => canonicalObject(item, replace));
  if (typeof value !== 'object' || value === null) return value ?? null;
  const entries = Object.entries(value).filter(
    ([key, item]) => !SET_BY_SERVER.has(key) && item !== undefined,
  );
  return Object.fromEntries(
    entries.map(([key, item]) => [replace(key), canonicalField(key, item, 'pods' in value, replace)]),
  );
}

function canonicalField(key: string, value: unknown, isResourceList: boolean, replace: Replace): unknown {
  if (MACHINE_FACTS.has(key)) return `<${key}>`;
  if (isResourceList && (key === 'memory' || key === 'ephemeral-storage')) return `<${key}>`;
  if (key === 'images' && Array.isArray(value)) return '<IMAGES>';
  if (typeof value !== 'string') return canonicalObject(value, replace);
  if (key === 'renewTime') return '<TIME>';
  if (key === 'kubeletVersion') return value.replace(BUILD, '');
  if (key === 'request') return certificateRequest(value, replace);
  return replace(value);
}

/** Returns the contents of a certificate request as `openssl req -text` prints them. */
function certificateRequest(encoded: string, replace: Replace): JsonObject {
  const request = Buffer.from(encoded, 'base64').toString();
  const {subject, subjectAltName = '', publicKey} = new X509Certificate(signCertificateRequest(request));
  const {asymmetricKeyType, asymmetricKeyDetails} = publicKey;
  const isP256 = asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return {
    key: isP256 ? 'id-ecPublicKey 256 bit' : String(asymmetricKeyType),
    san: replace(subjectAltName),
    subject: replace(subject.replaceAll('=', ' = ').replaceAll('\n', ', ')),
  };
}

/** Returns the distinct writes that are neither about pods and nodes nor events, in no order. */
export function otherWrites(requests: readonly RecordedRequest[], replace: Replace): readonly NodeWrite[] {
  const others = requests.filter(
    ({method, path}) => method !== 'GET' && !NODE_PATHS.test(path) && !/\/(pods|events|token)\b/.test(path),
  );
  const writes = others.map(({method, path, code = 0, body = {}}): NodeWrite => {
    const content = path.endsWith('reviews') ? body['spec'] : body;
    return [method, replace(path), String(code), canonicalObject(content, replace)];
  });
  return distinct(writes).toSorted((a, b) => compare(sortedJson(a), sortedJson(b)));
}
