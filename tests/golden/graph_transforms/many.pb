
.
xPlaceholder*
shape:*
dtype0

node_0Negx*
T0

node_1Negnode_0*
T0

node_2Negnode_1*
T0

node_3Negnode_2*
T0

node_4Negnode_3*
T0

node_5Negnode_4*
T0

node_6Negnode_5*
T0

node_7Negnode_6*
T0

node_8Negnode_7*
T0

node_9Negnode_8*
T0

node_10Negnode_9*
T0
 
node_11Negnode_10*
T0
 
node_12Negnode_11*
T0
 
node_13Negnode_12*
T0
 
node_14Negnode_13*
T0
 
node_15Negnode_14*
T0
 
node_16Negnode_15*
T0
 
node_17Negnode_16*
T0
 
node_18Negnode_17*
T0
 
node_19Negnode_18*
T0
 
node_20Negnode_19*
T0
 
node_21Negnode_20*
T0
 
node_22Negnode_21*
T0
 
node_23Negnode_22*
T0
 
node_24Negnode_23*
T0
 
node_25Negnode_24*
T0
 
node_26Negnode_25*
T0
 
node_27Negnode_26*
T0
 
node_28Negnode_27*
T0
 
node_29Negnode_28*
T0
 
node_30Negnode_29*
T0
 
node_31Negnode_30*
T0
 
node_32Negnode_31*
T0
 
node_33Negnode_32*
T0
 
node_34Negnode_33*
T0
 
node_35Negnode_34*
T0
 
node_36Negnode_35*
T0
 
node_37Negnode_36*
T0
 
node_38Negnode_37*
T0
 
node_39Negnode_38*
T0
 
node_40Negnode_39*
T0
 
node_41Negnode_40*
T0
 
node_42Negnode_41*
T0
 
node_43Negnode_42*
T0
 
node_44Negnode_43*
T0
 
node_45Negnode_44*
T0
 
node_46Negnode_45*
T0
 
node_47Negnode_46*
T0
 
node_48Negnode_47*
T0
 
node_49Negnode_48*
T0
 
node_50Negnode_49*
T0
 
node_51Negnode_50*
T0
 
node_52Negnode_51*
T0
 
node_53Negnode_52*
T0
 
node_54Negnode_53*
T0
 
node_55Negnode_54*
T0
 
node_56Negnode_55*
T0
 
node_57Negnode_56*
T0
 
node_58Negnode_57*
T0
 
node_59Negnode_58*
T0
 
node_60Negnode_59*
T0
 
node_61Negnode_60*
T0
 
node_62Negnode_61*
T0
 
node_63Negnode_62*
T0
 
node_64Negnode_63*
T0
 
node_65Negnode_64*
T0
 
node_66Negnode_65*
T0
 
node_67Negnode_66*
T0
 
node_68Negnode_67*
T0
 
node_69Negnode_68*
T0
 
node_70Negnode_69*
T0
 
node_71Negnode_70*
T0
 
node_72Negnode_71*
T0
 
node_73Negnode_72*
T0
 
node_74Negnode_73*
T0
 
node_75Negnode_74*
T0
 
node_76Negnode_75*
T0
 
node_77Negnode_76*
T0
 
node_78Negnode_77*
T0
 
node_79Negnode_78*
T0

yIdentitynode_79*
T0"†