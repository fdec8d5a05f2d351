/** Returns containers of a manifest that sleep, named c0, c1 and so on. */
export function sleepingContainers(length) {
  return Array.from({length}, (_, index) => ({
    name: `c${index}`,
    image: 'localhost:5000/busybox:1',
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', 'infinity'],
  }));
}
