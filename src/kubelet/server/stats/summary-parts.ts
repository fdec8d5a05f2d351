import type {
  CpuUsage,
  IoUsage,
  MemoryUsage,
  NetworkInterfaceUsage,
  NetworkUsage,
  PsiData,
  PsiStats,
  SwapUsage,
  UInt64Value,
} from '../../../cri/index.js';
import type {Json, JsonObject} from '../../../format/json.js';
import type {InterfaceUsage} from './node-usage.js';

/** CPUStats. */
export function cpuStats(cpu: CpuUsage | undefined): JsonObject | undefined {
  return (
    cpu &&
    present({
      time: timeText(cpu.timestamp),
      usageNanoCores: valueOf(cpu.usageNanoCores),
      usageCoreNanoSeconds: valueOf(cpu.usageCoreNanoSeconds),
      psi: psiStats(cpu.psi),
    })
  );
}

/** MemoryStats. */
export function memoryStats(memory: MemoryUsage | undefined): JsonObject | undefined {
  return (
    memory &&
    present({
      time: timeText(memory.timestamp),
      availableBytes: valueOf(memory.availableBytes),
      usageBytes: valueOf(memory.usageBytes),
      workingSetBytes: valueOf(memory.workingSetBytes),
      rssBytes: valueOf(memory.rssBytes),
      pageFaults: valueOf(memory.pageFaults),
      majorPageFaults: valueOf(memory.majorPageFaults),
      psi: psiStats(memory.psi),
    })
  );
}

/** SwapStats. */
export function swapStats(swap: SwapUsage | undefined): JsonObject | undefined {
  return (
    swap &&
    present({
      time: timeText(swap.timestamp),
      swapAvailableBytes: valueOf(swap.swapAvailableBytes),
      swapUsageBytes: valueOf(swap.swapUsageBytes),
    })
  );
}

/** IOStats; undefined when nothing is told of it. */
export function ioStats(io: IoUsage | undefined): JsonObject | undefined {
  const psi = psiStats(io?.psi);
  return io === undefined || psi === undefined ? undefined : {time: timeText(io.timestamp), psi};
}

function psiStats(psi: PsiStats | undefined): JsonObject | undefined {
  return psi && {full: psiData(psi.Full), some: psiData(psi.Some)};
}

function psiData({Total = 0n, Avg10 = 0, Avg60 = 0, Avg300 = 0}: Partial<PsiData> = {}): JsonObject {
  return {total: Total, avg10: Avg10, avg60: Avg60, avg300: Avg300};
}

/** NetworkStats of a pod. */
export function podNetworkStats(network: NetworkUsage | undefined): JsonObject | undefined {
  if (network === undefined) return undefined;
  const {timestamp, defaultInterface, interfaces} = network;
  const all = defaultInterface === undefined ? interfaces : [defaultInterface, ...interfaces];
  return {
    time: timeText(timestamp),
    ...(defaultInterface && interfaceStats(defaultInterface)),
    interfaces: all.map(interfaceStats),
  };
}

function interfaceStats({name, rxBytes, rxErrors, txBytes, txErrors}: NetworkInterfaceUsage): JsonObject {
  return present({
    name,
    rxBytes: valueOf(rxBytes),
    rxErrors: valueOf(rxErrors),
    txBytes: valueOf(txBytes),
    txErrors: valueOf(txErrors),
  });
}

/** The node's interface of whose numbers a kubelet says that they are the node's (defaultNetworkInterfaceName). */
const DEFAULT_INTERFACE = 'eth0';

/** NetworkStats of the node. */
export function nodeNetworkStats(timeNanos: bigint, interfaces: readonly InterfaceUsage[]): JsonObject {
  const all = interfaces.map((each): JsonObject => ({...each}));
  return {
    time: timeText(timeNanos),
    name: '',
    ...all.find(({name}) => name === DEFAULT_INTERFACE),
    interfaces: all,
  };
}

/** The members that there are. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

export function valueOf(measured: UInt64Value | undefined): bigint | undefined {
  return measured?.value;
}

/** RFC 3339 to the second. */
export function timeText(nanos: bigint): string {
  return new Date(Number(nanos / 1_000_000n)).toISOString().replace(/\.\d+Z$/, 'Z');
}
