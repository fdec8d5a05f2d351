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
import {formatRfc3339Seconds} from '../../../format/time.js';
import type {InterfaceUsage} from './node-usage.js';

/** Returns the CPUStats of a summary. */
export function cpuStats(cpu: CpuUsage | undefined): JsonObject | undefined {
  return (
    cpu &&
    omitUndefined({
      time: formatTimestamp(cpu.timestamp),
      usageNanoCores: valueOf(cpu.usageNanoCores),
      usageCoreNanoSeconds: valueOf(cpu.usageCoreNanoSeconds),
      psi: psiStats(cpu.psi),
    })
  );
}

/** Returns the MemoryStats of a summary. */
export function memoryStats(memory: MemoryUsage | undefined): JsonObject | undefined {
  return (
    memory &&
    omitUndefined({
      time: formatTimestamp(memory.timestamp),
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

/** Returns the SwapStats of a summary. */
export function swapStats(swap: SwapUsage | undefined): JsonObject | undefined {
  return (
    swap &&
    omitUndefined({
      time: formatTimestamp(swap.timestamp),
      swapAvailableBytes: valueOf(swap.swapAvailableBytes),
      swapUsageBytes: valueOf(swap.swapUsageBytes),
    })
  );
}

/** Returns the IOStats of a summary. */
export function ioStats(io: IoUsage | undefined): JsonObject | undefined {
  return io && omitUndefined({time: formatTimestamp(io.timestamp), psi: psiStats(io.psi)});
}

function psiStats(psi: PsiStats | undefined): JsonObject | undefined {
  return psi && {full: psiData(psi.Full), some: psiData(psi.Some)};
}

function psiData({Total = 0n, Avg10 = 0, Avg60 = 0, Avg300 = 0}: Partial<PsiData> = {}): JsonObject {
  return {total: Total, avg10: Avg10, avg60: Avg60, avg300: Avg300};
}

/** Returns the NetworkStats of a pod. */
export function podNetworkStats(network: NetworkUsage | undefined): JsonObject | undefined {
  if (network === undefined) return undefined;
  const {timestamp, defaultInterface, interfaces} = network;
  const all = defaultInterface === undefined ? interfaces : [defaultInterface, ...interfaces];
  return {
    time: formatTimestamp(timestamp),
    ...(defaultInterface && interfaceStats(defaultInterface)),
    interfaces: all.map(interfaceStats),
  };
}

function interfaceStats({name, rxBytes, rxErrors, txBytes, txErrors}: NetworkInterfaceUsage): JsonObject {
  return omitUndefined({
    name,
    rxBytes: valueOf(rxBytes),
    rxErrors: valueOf(rxErrors),
    txBytes: valueOf(txBytes),
    txErrors: valueOf(txErrors),
  });
}

/** Interface whose counters a kubelet reports as the node's (defaultNetworkInterfaceName). */
const DEFAULT_INTERFACE = 'eth0';

/** Returns the NetworkStats of the node. */
export function nodeNetworkStats(timeNanos: bigint, interfaces: readonly InterfaceUsage[]): JsonObject {
  const all = interfaces.map((each): JsonObject => ({...each}));
  return {
    time: formatTimestamp(timeNanos),
    name: '',
    ...all.find(({name}) => name === DEFAULT_INTERFACE),
    interfaces: all,
  };
}

/** Returns an object without the undefined members. */
export function omitUndefined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

export function valueOf(measured: UInt64Value | undefined): bigint | undefined {
  return measured?.value;
}

/** Formats a time, in nanoseconds since the epoch, as metav1.Time. */
export function formatTimestamp(nanos: bigint): string {
  return formatRfc3339Seconds(Number(nanos / 1_000_000n));
}
