import type {UiContainer, UiPod} from '../../features/ui/protocol.js';

/** Term of a filter: a text that the row contains, in any case, anywhere or in a field. */
interface Term {
  readonly field: keyof typeof FIELDS | undefined;
  readonly text: string;
}

/** Fields that a term may name, such as in `state:crash`. */
const FIELDS = {
  state: (pod: UiPod, container?: UiContainer) => container?.state ?? pod.state,
  node: (pod: UiPod) => pod.node,
  manager: (pod: UiPod) => pod.manager,
  namespace: (pod: UiPod) => pod.namespace,
  image: (_pod: UiPod, container?: UiContainer) => container?.image ?? '',
} as const;

/**
 * Returns the containers that are shown of a pod: all if the pod matches all terms of the filter, otherwise those that
 * do; undefined if there are none.
 */
export function matchPod(pod: UiPod, filter: string): readonly UiContainer[] | undefined {
  const terms = parseFilter(filter);
  if (terms.every((term) => contains(term, pod))) return pod.containers;
  const found = pod.containers.filter((container) => terms.every((term) => contains(term, pod, container)));
  return found.length === 0 ? undefined : found;
}

function parseFilter(filter: string): readonly Term[] {
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const [name = '', ...rest] = word.split(':');
      return isField(name) && rest.length > 0
        ? {field: name, text: rest.join(':')}
        : {field: undefined, text: word};
    });
}

function isField(name: string): name is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, name);
}

function contains({field, text}: Term, pod: UiPod, container?: UiContainer): boolean {
  const value =
    field === undefined
      ? `${pod.namespace}/${pod.name}/${container?.name ?? ''} ${FIELDS.state(pod, container)} ${pod.manager} ${pod.node}`
      : FIELDS[field](pod, container);
  return value.toLowerCase().includes(text);
}
