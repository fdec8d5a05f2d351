/** Held while bridges and rules of the machine's network, which private runtimes share, are made or removed. */
export const NETWORK_LOCK = '/run/kcri-network.lock';

/** Held while cgroups above those of pods, which kcris with different root directories share, are made or removed. */
export const CGROUPS_LOCK = '/run/kcri-cgroups.lock';
