/** Returns the UID of a pod in the name of its cgroup: `podUID`, or `kubepods-burstable-podUID_WITH_UNDERSCORES.slice`. Pure. */
export function podOfCgroup(name: string): string | undefined {
  const [, plain] = /^pod([0-9a-zA-Z-]+)$/.exec(name) ?? [];
  const [, escaped] = /^kubepods(?:-\w+?)?-pod(\w+)\.slice$/.exec(name) ?? [];
  return plain ?? escaped?.replaceAll('_', '-');
}
