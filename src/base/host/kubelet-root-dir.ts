/** Default root directory of a kubelet (options.go defaultRootDir). */
export const KUBELET_ROOT_DIR = '/var/lib/kubelet';
