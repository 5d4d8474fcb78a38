// Of the package only the parser.
export { SseParser } from "tidemark";
