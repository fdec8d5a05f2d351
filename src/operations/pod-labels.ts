/** The labels by which the kubelet ties a container to its pod. */
const POD_NAME = 'io.kubernetes.pod.name';
const POD_NAMESPACE = 'io.kubernetes.pod.namespace';

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** The name of the pod that a container belongs to, as far as its labels say. */
export function podNameOf({labels}: Labelled): string | undefined {
  return labels[POD_NAME];
}

/** The namespace of the pod that a container belongs to, as far as its labels say. */
export function podNamespaceOf({labels}: Labelled): string | undefined {
  return labels[POD_NAMESPACE];
}
