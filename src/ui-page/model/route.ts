/** Tabs of a pod's page, in their order. */
export const POD_TABS = ['status', 'logs', 'events', 'timeline', 'manifest', 'shell'] as const;

export type PodTab = (typeof POD_TABS)[number];

/** What the page shows, as its address says. */
export type Route =
  | {readonly view: 'pods'}
  | {readonly view: 'pod'; readonly key: string; readonly tab: PodTab; readonly container?: string}
  | {readonly view: 'node'; readonly key: string};

/** Returns the route of the part of an address behind `#`. Unknown addresses show the pods. */
export function parseRoute(hash: string): Route {
  const [, view, key, tab, container] = hash.replace(/^#/, '').split('/').map(decode);
  if (key === undefined || key === '') return {view: 'pods'};
  if (view === 'node') return {view, key};
  if (view !== 'pod') return {view: 'pods'};
  const known = POD_TABS.find((each) => each === tab) ?? 'status';
  return container === undefined || container === ''
    ? {view, key, tab: known}
    : {view, key, tab: known, container};
}

/** Returns the part of the address behind `#`, with it. */
export function formatRoute(route: Route): string {
  switch (route.view) {
    case 'pods':
      return '#/';
    case 'node':
      return `#/node/${encodeURIComponent(route.key)}`;
    case 'pod': {
      const parts = [route.key, route.tab, ...(route.container === undefined ? [] : [route.container])];
      return `#/pod/${parts.map(encodeURIComponent).join('/')}`;
    }
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Somebody typed a percent sign.
    return part;
  }
}
