/** Driver of cgroups of a runtime. */
export type CgroupDriver = 'systemd' | 'cgroupfs';

/** Gives each recorded parent of a pod's cgroup one of the replay, in the form that the runtime's driver takes. */
export class ReplayCgroups {
  readonly #driver: CgroupDriver;
  readonly #tag: string;
  readonly #names = new Map<string, string>();

  /** `tag` are hexadecimal digits that distinguish this replay. */
  constructor(driver: CgroupDriver, tag: string) {
    this.#driver = driver;
    this.#tag = tag;
  }

  /** Name of the directory, in each hierarchy of the driver cgroupfs, that contains all of them. */
  get directory(): string {
    return `kcri-replay-${this.#tag}`;
  }

  /** Returns the parent in place of a recorded one. */
  parent(recorded: string): string {
    const known = this.#names.get(recorded);
    if (known !== undefined) return known;
    const name = `pod${this.#names.size}`;
    // A dash in the name of a slice would put it into another slice.
    const made =
      this.#driver === 'systemd' ? `kcrireplay${this.#tag}-${name}.slice` : `/${this.directory}/${name}`;
    this.#names.set(recorded, made);
    return made;
  }
}
