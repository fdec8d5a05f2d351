/** Manifest of a pod in the host network, which needs no network plugin. */
export const WEB_MANIFEST = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostNetwork: true
  containers: [{name: main, image: 'busybox:1'}]
`;
