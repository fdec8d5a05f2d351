/** Lock for changes of bridges and network rules that private runtimes share. */
export const NETWORK_LOCK = '/run/kcri-network.lock';

/** Lock for changes of cgroups above pods, which kcri processes with different root directories share. */
export const CGROUPS_LOCK = '/run/kcri-cgroups.lock';
