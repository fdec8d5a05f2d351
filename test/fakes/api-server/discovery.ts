import {answer, type RecordedRequest} from './api-request.js';
import {RESOURCES, type ApiResource} from './resources.js';
import type {Handler} from './api-call.js';

const DISCOVERY_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['create', 'get', 'patch', 'update'];
/** Kinds of the bodies of subresources, where they differ from that of the object. */
const SUBRESOURCE_KINDS: Readonly<Record<string, readonly [group: string, kind: string]>> = {
  eviction: ['policy', 'Eviction'],
};

/** Returns the handler of a request for the server's version or its resources; undefined for other requests. */
export function findDiscovery({method, path}: RecordedRequest): Handler | undefined {
  if (method !== 'GET') return undefined;
  if (path === '/version')
    return ({response}) => {
      answer(response, 200, VERSION);
    };
  if (path === '/api' || path === '/apis') return aggregated(path === '/api');
  const groupVersion = /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)$/.exec(path)?.groups;
  if (groupVersion === undefined) return undefined;
  const {group = '', version = ''} = groupVersion;
  const found = RESOURCES.filter((resource) => resource.group === group && resource.version === version);
  return found.length === 0
    ? undefined
    : ({response}) => {
        answer(response, 200, resourceList(group === '' ? version : `${group}/${version}`, found));
      };
}

const VERSION = {major: '1', minor: '36', gitVersion: 'v1.36.2', platform: 'linux/amd64'};

/** Answers all groups with their resources, as in aggregated discovery. */
function aggregated(isCore: boolean): Handler {
  const resources = RESOURCES.filter(({group}) => (group === '') === isCore);
  const items = [...new Set(resources.map(({group}) => group))].map((name) => {
    const ofGroup = resources.filter(({group}) => group === name);
    // No group has several versions.
    const version = ofGroup[0]?.version;
    const versions = [{version, freshness: 'Current', resources: ofGroup.map(discoveryOf)}];
    return {metadata: {name, creationTimestamp: null}, versions};
  });
  const body = {kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items};
  return ({response}) => {
    response.writeHead(200, {'content-type': DISCOVERY_TYPE}).end(JSON.stringify(body));
  };
}

function discoveryOf({
  group,
  version,
  name,
  kind,
  isNamespaced,
  shortNames,
  subresources,
}: ApiResource): object {
  return {
    resource: name,
    responseKind: {group, version, kind},
    scope: isNamespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.toLowerCase(),
    verbs: VERBS,
    shortNames,
    subresources: subresources.map((subresource) => {
      const [ofGroup, ofKind] = SUBRESOURCE_KINDS[subresource] ?? [group, kind];
      const responseKind = {group: ofGroup, version: 'v1', kind: ofKind};
      return {subresource, responseKind, verbs: SUBRESOURCE_VERBS};
    }),
  };
}

/** Returns the resources of one group and version, without aggregation. */
function resourceList(groupVersion: string, found: readonly ApiResource[]): object {
  const resources = found.flatMap((resource) => [
    {
      name: resource.name,
      singularName: resource.kind.toLowerCase(),
      namespaced: resource.isNamespaced,
      kind: resource.kind,
      verbs: VERBS,
      shortNames: resource.shortNames,
    },
    ...resource.subresources.map((subresource) => subresourceItem(resource, subresource)),
  ]);
  return {kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources};
}

function subresourceItem({name, kind, group, isNamespaced}: ApiResource, subresource: string): object {
  const [ofGroup, ofKind] = SUBRESOURCE_KINDS[subresource] ?? [group, kind];
  return {
    name: `${name}/${subresource}`,
    singularName: '',
    namespaced: isNamespaced,
    kind: ofKind,
    ...(ofGroup !== group && {group: ofGroup, version: 'v1'}),
    verbs: SUBRESOURCE_VERBS,
  };
}
