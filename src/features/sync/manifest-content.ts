import {belongsTo, workloadRef} from '../../api/workloads/workload-of-pod.js';
import type {LoadedPods} from '../manifests/load-pods.js';
import type {ManifestContent} from './view/sync-renderer.js';

/** Returns the workloads of manifests with their pods, and the objects without effect. */
export function contentOf({documents, pods}: Pick<LoadedPods, 'documents' | 'pods'>): ManifestContent {
  return {
    workloads: documents.workloads.map(({workload}) => {
      const ref = workloadRef(workload);
      // The pod of a PodTemplate has its name and no owner.
      const own = pods.filter(({pod}) =>
        workload.kind === 'PodTemplate'
          ? pod.metadata.name === ref.name && pod.metadata.namespace === ref.namespace
          : belongsTo(pod, ref),
      );
      return {...ref, pods: own.map(({pod}) => pod.metadata.name ?? '')};
    }),
    skipped: documents.skipped.map(({skipped: {skippedKind, name}, file, line, column}) => ({
      kind: skippedKind,
      ...(name !== '' && {name}),
      ...{file, line, column},
    })),
  };
}
