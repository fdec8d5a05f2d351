import {kubeletVersion} from '../../contract/kubelet-version.js';
import type {MetricFamily} from '../../managers/metrics/exposition.js';
import {goArchitecture} from '../../node/read-node-facts.js';

/** Returns the version of the kubelet; the labels of Git and Go are empty, because kcri has no values for them. */
export function collectBuildInfo(kcriVersion: string): MetricFamily {
  const version = kubeletVersion(kcriVersion);
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const labels = {
    ...{major, minor, git_version: version, platform: `linux/${goArchitecture()}`},
    ...{git_commit: '', git_tree_state: '', build_date: '', go_version: '', compiler: ''},
  };
  return {
    name: 'kubernetes_build_info',
    help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    stability: 'BETA',
    type: 'gauge',
    samples: [{labels, value: 1}],
  };
}
