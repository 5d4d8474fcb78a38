// The page's script.
import { recoverStream } from "tidemark";
import { show } from "./show.js";

show(recoverStream);
