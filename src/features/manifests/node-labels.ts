import {checkLabelValue, checkQualifiedName} from '../../api/validation/validate-names.js';
import {UsageError} from '../../base/errors.js';

type Labels = Readonly<Record<string, string>>;

/** Labels of Kubernetes that a kubelet may set on its own Node (kubeletapis.KubeletLabels). */
const KUBELET_LABELS = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
/** Namespaces whose labels a kubelet may set (kubeletapis.KubeletLabelNamespaces). */
const KUBELET_NAMESPACES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/**
 * Parses the values of --node-labels: `key=value`, or `key` for an empty value (ConfigurationMap). Throws UsageError for
 * invalid keys and values.
 */
export function parseNodeLabels(texts: readonly string[] = []): Labels {
  const entries = texts
    .filter((text) => text !== '')
    .map((text) => {
      const [key = '', ...value] = text.split('=');
      return [key.trim(), value.join('=').trim()] as const;
    });
  const labels = Object.fromEntries(entries);
  const problems = Object.entries(labels).flatMap(([key, value]) => [
    ...describeProblems(key, checkQualifiedName(key)),
    ...describeProblems(value, checkLabelValue(value)),
  ]);
  if (problems.length > 0)
    throw new UsageError(`invalid node labels: ${problems.join('; ')}`, {hint: 'change --node-labels'});
  return labels;
}

const describeProblems = (text: string, problems: readonly string[]): readonly string[] =>
  problems.length === 0 ? [] : [`'${text}' - ${problems.join(', ')}`];

/**
 * Checks the values of --node-labels for a kubelet, like parseNodeLabels. Throws UsageError also for labels of Kubernetes
 * that a kubelet may not set (ValidateKubeletFlags).
 */
export function checkKubeletLabels(texts: readonly string[] | undefined): void {
  const unknown = Object.keys(parseNodeLabels(texts)).filter(
    (key) => isKubernetesLabel(key) && !isKubeletLabel(key),
  );
  if (unknown.length === 0) return;
  const names = unknown.toSorted().join(' ');
  throw new UsageError(
    `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${names}]`,
    {
      hint:
        `use a prefix below ${KUBELET_NAMESPACES.join(' or ')}, or one of ${KUBELET_LABELS.join(', ')}; ` +
        'kubectl label node can set others',
    },
  );
}

const isKubernetesLabel = (key: string): boolean => isBelow(key, ['kubernetes.io', 'k8s.io']);

const isKubeletLabel = (key: string): boolean =>
  KUBELET_LABELS.includes(key) || isBelow(key, KUBELET_NAMESPACES);

/** Reports whether the key has one of the namespaces, or a domain below it, as its prefix. */
function isBelow(key: string, namespaces: readonly string[]): boolean {
  const [prefix = ''] = key.includes('/') ? key.split('/') : [];
  return namespaces.some((namespace) => prefix === namespace || prefix.endsWith(`.${namespace}`));
}
