module voltbox-peers

go 1.18

require github.com/pierrec/lz4/v4 v4.1.22
