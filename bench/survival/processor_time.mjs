// How much processor time processes use.
import { readFileSync } from "node:fs";

/** Seconds that a running process has used. */
export function secondsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
