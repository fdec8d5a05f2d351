/** Settings of the topology manager (topologyManager* of the KubeletConfiguration). */
export interface TopologyManagerSettings {
  /** `none`, `best-effort`, `restricted` or `single-numa-node`. */
  readonly policy: string;
  /** `container` or `pod`. */
  readonly scope: string;
  readonly options: Readonly<Record<string, string>>;
}
